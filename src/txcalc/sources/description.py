"""From the tree of a YAML description to a :class:`~txcalc.model.Model`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, get_args

import msgspec

from txcalc.errors import DescriptionError, nearest
from txcalc.model import COMPONENTS, ROLES, Block, Head, Model, Stack
from txcalc.parts.attention import Attention
from txcalc.parts.base import Part
from txcalc.parts.ffn import Ffn
from txcalc.parts.positions import Positions
from txcalc.parts.tensor import Tensor
from txcalc.quantity import Letter, Quantity, const

MAX_SIZE = 10**15
STACKS = {"encoder": "encoder", "layers": "decoder"}
LETTER_NAMES = {"count": "n_layers"}
"""Fields whose letter has another name than they have."""

_KINDS: dict[str, dict[str, type[Part]]] = {
    role: {str(kind.__struct_config__.tag): kind for kind in get_args(union)}
    for role, union in {
        "attention": Attention,
        "cross_attention": Attention,
        "ffn": Ffn,
        "positions": Positions,
    }.items()
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

P = TypeVar("P")
T = TypeVar("T", bound=msgspec.Struct)


class Description(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The top level of a model file."""

    name: str
    source: str
    d_model: Letter
    vocab: Letter
    blocks: dict[str, Any]
    context: Letter | None = None
    parts: dict[str, Any] = {}
    layers: dict[str, Any] | None = None
    encoder: dict[str, Any] | None = None
    head: dict[str, Any] | None = None


def build(tree: Any, file: str) -> Model:
    """The model that a description means; ``file`` is what errors call it.

    Raises:
        DescriptionError: a field that is unknown, missing, of the wrong type or contradictory.
    """
    return _Builder(file).model(tree)


class _Builder:
    """Decodes piece by piece, so that every error knows its whole path, and binds the letters."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._dims: dict[str, Letter] = {}
        self._shared: dict[tuple[str, str], Part] = {}
        self._tree: dict[str, Any] = {}
        self._d_model = Letter(1)

    def model(self, tree: Any) -> Model:
        top = self._decode(tree, Description, "")
        self._tree = top.parts
        self._d_model = top.d_model
        stacks = {
            name: self._stack(raw, field)
            for field, name in STACKS.items()
            if (raw := getattr(top, field)) is not None
        }
        if not stacks:
            self._refuse("", "neither layers (a decoder) nor encoder is described")
        if not top.blocks:
            self._refuse("blocks", "no block is described")
        blocks = {name: self._block(name, raw) for name, raw in top.blocks.items()}
        self._check_parts_used()
        self._check_blocks(blocks, stacks)
        return Model(
            name=top.name,
            source=top.source,
            d_model=top.d_model,
            vocab=top.vocab,
            context=top.context,
            blocks=blocks,
            stacks=stacks,
            head=None if top.head is None else self._decode(top.head, Head, "head"),
            dims=self._dims,
        )

    def _block(self, name: str, raw: Any) -> Block:
        path = f"blocks.{name}"
        self._check_name(name, path)
        fields = dict(self._mapping(raw, path, Block))
        parts = {role: self._part(fields.pop(role), role, path) for role in ROLES if role in fields}
        tensors = self._mapping(fields.pop("tensors", {}), f"{path}.tensors", None)
        block = self._decode(fields, Block, path)
        block = msgspec.structs.replace(block, **parts)
        if not parts and not tensors:
            self._refuse(path, f"an empty block; give it one of {', '.join(ROLES)}")
        named = {
            key: self._tensor(raw, f"{path}.tensors.{key}", name) for key, raw in tensors.items()
        }
        return msgspec.structs.replace(block, tensors=named)

    def _part(self, raw: Any, role: str, where: str) -> Part | None:
        if raw is None:
            return None
        if not isinstance(raw, str):
            return self._kind(raw, role, f"{where}.{role}")
        if raw not in self._tree:
            self._refuse(f"{where}.{role}", f"no part {raw!r}{nearest(raw, list(self._tree))}")
        if (raw, role) not in self._shared:
            self._shared[raw, role] = self._kind(self._tree[raw], role, f"parts.{raw}")
        return self._shared[raw, role]

    def _kind(self, raw: Any, role: str, path: str) -> Part:
        kinds = _KINDS[role]
        kind = self._mapping(raw, path, None).get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            said = "no kind is given" if kind is None else f"unknown kind {kind!r}"
            self._refuse(f"{path}.kind", said + nearest(str(kind), list(kinds)))
        part = self._decode(raw, kinds[kind], path)
        bound = self._checked(lambda: part.bound(self._d_model), path)
        self._bind(bound, path)
        return bound

    def _stack(self, raw: Any, field: str) -> Stack:
        fields = dict(self._mapping(raw, field, Stack))
        positions = self._part(fields.pop("positions", None), "positions", field)
        stack = self._decode(fields, Stack, field)
        if not stack.pattern:
            self._refuse(f"{field}.pattern", "no block is named: list at least one")
        ends = len(stack.first) + len(stack.last)
        if stack.count.value < ends:
            self._refuse(
                f"{field}.count", f"{stack.count.value} is below the {ends} of first and last"
            )
        return msgspec.structs.replace(stack, positions=positions)

    def _tensor(self, raw: Any, path: str, block: str) -> Tensor:
        tree = self._mapping(raw, path, Tensor)
        names = tree.get("dims")
        if not isinstance(names, list) or not names:
            self._refuse(f"{path}.dims", "a list of sizes or of names of dimensions is needed")
        dims = tuple(self._size(name, f"{path}.dims", block) for name in names)
        if tree.get("use") in ("matmul", "lookup") and len(dims) != 2:
            self._refuse(f"{path}.dims", f"a {tree['use']} has two, not {len(dims)}")
        tensor = self._decode({**tree, "dims": []}, Tensor, path)
        return msgspec.structs.replace(tensor, dims=dims)

    def _size(self, size: Any, path: str, block: str) -> Quantity:
        if isinstance(size, int):
            return const(self._checked(lambda: _letter(Letter, size), path).value)
        found = {
            place: letter
            for place, letter in self._dims.items()
            if letter.name == size and (place.startswith(f"blocks.{block}.") or "." not in place)
        }
        if len({letter.value for letter in found.values()}) != 1:
            known = sorted({letter.name for letter in self._dims.values()})
            self._refuse(
                path, f"{size!r} names no dimension of this block{nearest(str(size), known)}"
            )
        return next(iter(found.values()))

    def _decode(self, tree: Any, kind: type[T], path: str) -> T:
        self._mapping(tree, path, kind)
        try:
            decoded = msgspec.convert(tree, kind, dec_hook=_letter)
        except msgspec.ValidationError as error:
            message, _, below = str(error).partition(" - at `$")
            field = ".".join(p for p in (path, below.rstrip("`").lstrip(".")) if p)
            self._refuse(field, message[0].lower() + message[1:].replace("`", "'"))
        self._bind(decoded, path)
        return decoded

    def _mapping(self, tree: Any, path: str, kind: type[msgspec.Struct] | None) -> dict[str, Any]:
        """The tree itself, once it is known to be a mapping whose keys the kind has."""
        if not isinstance(tree, dict):
            self._refuse(path, "a mapping of fields is needed here")
        if kind is not None:
            known = [*kind.__struct_fields__, *(["kind"] if issubclass(kind, Part) else [])]
            for key in tree:
                if key not in known:
                    self._refuse(f"{path}.{key}".lstrip("."), "unknown field" + nearest(key, known))
        return tree

    def _bind(self, struct: msgspec.Struct, path: str) -> None:
        """Tells the letters of a struct their names and paths."""
        for field in struct.__struct_fields__:
            letter = getattr(struct, field)
            if isinstance(letter, Letter):
                letter.name = LETTER_NAMES.get(field, field)
                letter.path = f"{path}.{field}".lstrip(".")
                self._dims[letter.path] = letter

    def _check_name(self, name: str, path: str) -> None:
        if name in COMPONENTS:
            self._refuse(path, f"{name!r} is the name of a component; call the block otherwise")
        if not _NAME.fullmatch(name):
            self._refuse(path, "a block's name is letters, digits, '_' and '-', a letter first")

    def _check_parts_used(self) -> None:
        used = {name for name, _ in self._shared}
        for name in self._tree:
            if name not in used:
                self._refuse(f"parts.{name}", "no block uses this part")

    def _check_blocks(self, blocks: dict[str, Block], stacks: dict[str, Stack]) -> None:
        used: dict[str, str] = {}
        for field, stack_name in STACKS.items():
            stack = stacks.get(stack_name)
            for name in stack.counts if stack else ():
                if name not in blocks:
                    self._refuse(field, f"no block {name!r}{nearest(name, list(blocks))}")
                if name in used:
                    self._refuse(field, f"block {name!r} already belongs to {used[name]}")
                used[name] = field
        for name, block in blocks.items():
            if name not in used:
                self._refuse(f"blocks.{name}", "no stack uses this block")
            if block.cross_attention and (used[name] == "encoder" or "encoder" not in stacks):
                where = f"blocks.{name}.cross_attention"
                self._refuse(where, "only a decoder beside an encoder has it")

    def _checked(self, make: Callable[[], P], path: str) -> P:
        try:
            return make()
        except ValueError as error:
            self._refuse(path, str(error))

    def _refuse(self, path: str, message: str) -> NoReturn:
        raise DescriptionError(message, where=f"{self._file}: {path}" if path else self._file)


def _letter(_: type, raw: Any) -> Letter:
    """A size as a letter that does not know its name yet."""
    if type(raw) is not int:
        raise ValueError(f"a whole number is needed, not {raw!r}")
    if not 0 < raw <= MAX_SIZE:
        raise ValueError(f"{raw} is no size: a whole number from 1 to 10^15 is needed")
    return Letter(raw)
