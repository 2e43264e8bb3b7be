"""From the tree of a YAML description to a :class:`~txcalc.model.model.Model`."""

from typing import Annotated, Any, Literal, get_args

import msgspec

from txcalc.errors import OptionError, nearest
from txcalc.exact.quantity import LARGEST, Letter, product
from txcalc.model.model import Model
from txcalc.model.parts import Attention, CrossAttention, Ffn, Positions, Ssm
from txcalc.model.parts.base import Part, dim
from txcalc.model.parts.ffn import Mixture
from txcalc.model.parts.tensor import Tensor
from txcalc.model.structure import (
    COMPONENTS,
    SUB_LAYERS,
    Arrangement,
    Block,
    Embedding,
    Head,
    Module,
    Stack,
)
from txcalc.sources.decoding import Decoder, T
from txcalc.workload.chosen import chosen_weights

MOSTKINDS = 1000
"""Kinds of blocks, or tensors in one place, that a description may list."""
MOST_DIMS = 8
LONGEST_NAME = 300
"""Characters of a model's name, which stands above every column."""
MOST_ELEMENTS = LARGEST**3
"""Elements of all copies: a matrix of the largest sizes, as often as there is a size."""
STACKS = {"encoder": "encoder", "layers": "decoder"}
KINDS: dict[str, dict[str, type[Part]]] = {
    role: {str(kind.__struct_config__.tag): kind for kind in get_args(union)}
    for role, union in {
        "attention": Attention,
        "ssm": Ssm,
        "cross_attention": CrossAttention,
        "ffn": Ffn,
        "positions": Positions,
    }.items()
}
"""The class of each kind of part, by the field that holds it."""


class Description(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The top level of a model file."""

    name: str
    source: str
    d_model: Annotated[Letter, dim("width of the residual stream")]
    vocab: Annotated[Letter, dim("rows of the token table")]
    blocks: dict[str, Any]
    context: Annotated[Letter | None, dim("the model's own longest context")] = None
    parts: dict[str, Any] = {}
    layers: dict[str, Any] | None = None
    encoder: dict[str, Any] | None = None
    embedding: dict[str, Any] | None = None
    head: dict[str, Any] | None = None
    tensors: dict[str, Any] = {}
    mtp: dict[str, Any] | None = None
    scope: Literal["model", "text"] = "model"
    stored: str | None = None
    notes: list[str] = []


def build(tree: Any, file: str) -> Model:
    """The model that a description means; ``file`` is what errors call it.

    Raises:
        DescriptionError: a field that is unknown, missing, of the wrong type or contradictory.
    """
    return _Builder(file).model(tree)


def kinds_in(tree: Any) -> dict[tuple[str, ...], type[Part]]:
    """The class of each part that a tree writes out, by path; parts of no known kind are left."""
    kinds_by_path = {}
    blocks = {("blocks", name): block for name, block in _fields(tree, "blocks").items()}
    for path, holder in (blocks | {(stack,): _fields(tree, stack) for stack in STACKS}).items():
        for role, kinds in KINDS.items():
            raw, place = _fields(holder).get(role), (*path, role)
            if isinstance(raw, str):
                raw, place = _fields(tree, "parts").get(raw), ("parts", raw)
            kind = _fields(raw).get("kind")
            if isinstance(kind, str) and kind in kinds:
                kinds_by_path[place] = kinds[kind]
    return kinds_by_path


def _fields(tree: Any, *path: str) -> dict[str, Any]:
    """A mapping at a path; an empty one where none stands there."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


class _Builder(Decoder):
    """Decodes piece by piece."""

    def model(self, tree: Any) -> Model:
        """The whole model."""
        top = self.decode(tree, Description, "")
        self._top = top
        self._width = top.d_model
        self._shared: dict[tuple[str, str], tuple[Part, Letter]] = {}
        stacks = {
            name: self._stack(raw, field)
            for field, name in STACKS.items()
            if (raw := getattr(top, field)) is not None
        }
        for field, text in (("name", top.name), ("source", top.source)):
            if not text.isprintable():
                self.refuse(field, "it has characters that cannot be printed")
        if len(top.name) > LONGEST_NAME:
            self.refuse("name", f"{len(top.name):,} characters; at most {LONGEST_NAME}")
        if not stacks:
            self.refuse("", "neither layers (a decoder) nor encoder is described")
        for field in ("d_model", "length") if len(stacks) < 2 else ():
            if any(getattr(stack, field) for stack in stacks.values()):
                self.refuse(f"encoder.{field}", f"only an encoder beside a decoder has a {field}")
        blocks = {}
        for name, raw in self._few(top.blocks, "blocks").items():
            encoder = stacks.get("encoder")
            own = encoder.d_model if encoder is not None and name in encoder.counts else None
            self._width = own or top.d_model
            blocks[name] = self._block(name, raw)
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
            embedding=self._optional(top.embedding, Embedding, "embedding"),
            head=self._optional(top.head, Head, "head"),
            tensors=self._tensors(top.tensors, "tensors", ""),
            mtp=None if top.mtp is None else self._module(top.mtp, blocks),
            scope=top.scope,
            stored=self._stored(top.stored),
            notes=top.notes,
            dims=self.dims,
        )

    def _stored(self, text: str | None) -> str | None:
        """The format of a checkpoint, as ``--weights`` takes it."""
        try:
            chosen_weights(text, "fp16")
        except OptionError as error:
            self.refuse("stored", str(error))
        return text

    def _optional(self, raw: Any, kind: type[T], path: str) -> T | None:
        return None if raw is None else self.decode(raw, kind, path)

    def _block(self, name: str, raw: Any) -> Block:
        path = f"blocks.{name}"
        self._check_name(name, path)
        fields = dict(self.mapping(raw, path, Block))
        parts: dict[str, Any] = {
            role: self._part(fields.pop(role), role, path) for role in SUB_LAYERS if role in fields
        }
        tensors = fields.pop("tensors", {})
        # Of Block itself, msgspec would look at every field of every kind of part: 7 ms at start.
        arranged = self.decode(fields, Arrangement, path)
        if not parts and not tensors:
            self.refuse(path, f"an empty block; give it one of {', '.join(SUB_LAYERS)}")
        if not parts and arranged.norm != "none":
            self.refuse(f"{path}.norm", "the block has no sub-layer; write none")
        ffn = parts.get("ffn")
        if isinstance(ffn, Mixture) and ffn.top_k is None and not arranged.partial:
            self.refuse(f"{path}.ffn.top_k", "missing, but it is needed unless a block is partial")
        named = self._tensors(tensors, f"{path}.tensors", f"{path}.")
        return Block(**msgspec.structs.asdict(arranged), tensors=named, **parts)

    def _part(self, raw: Any, role: str, where: str) -> Part | None:
        """A part as it stands, or one of ``parts`` by its name."""
        if raw is None:
            return None
        if not isinstance(raw, str):
            return self._kind(raw, role, f"{where}.{role}")
        parts = self._top.parts
        if raw not in parts:
            self.refuse(f"{where}.{role}", f"no part {raw!r}{nearest(raw, list(parts))}")
        if (raw, role) not in self._shared:
            made = self._kind(parts[raw], role, f"parts.{raw}")
            self._shared[raw, role] = made, self._width
        part, width = self._shared[raw, role]
        if width != self._width:
            self.refuse(f"{where}.{role}", f"stacks of two widths share {raw!r}: describe it twice")
        return part

    def _kind(self, raw: Any, role: str, path: str) -> Part:
        kinds = KINDS[role]
        kind = self.mapping(raw, path, None).get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            hint = nearest(kind, list(kinds)) if isinstance(kind, str) else f": {', '.join(kinds)}"
            problem = "no kind is given" if kind is None else f"unknown kind {kind!r}"
            self.refuse(f"{path}.kind", problem + hint)
        part = self.decode(raw, kinds[kind], path)
        bound = self.checked(lambda: part.bound(self._width), path)
        self.bind(bound, path)
        return bound

    def _stack(self, raw: Any, field: str) -> Stack:
        fields = dict(self.mapping(raw, field, Stack))
        positions = self._part(fields.pop("positions", None), "positions", field)
        stack = self.decode(fields, Stack, field)
        if field == "layers" and stack.d_model is not None:
            self.refuse("layers.d_model", "the decoder's width is the d_model of the whole")
        if field == "layers" and stack.length is not None:
            self.refuse("layers.length", "only an encoder's inputs are padded to one length")
        if not stack.pattern:
            self.refuse(f"{field}.pattern", "no block is named: list at least one")
        ends = len(stack.first) + len(stack.last)
        if stack.count.value < ends:
            fewer = f"{stack.count.value} is below the {ends} of first and last"
            self.refuse(f"{field}.count", fewer)
        return msgspec.structs.replace(stack, positions=positions)

    def _module(self, raw: Any, blocks: dict[str, Block]) -> Module:
        fields = dict(self.mapping(raw, "mtp", Module))
        tensors = self._tensors(fields.pop("tensors", {}), "mtp.tensors", "mtp.")
        module = self.decode(fields, Module, "mtp")
        if module.block not in blocks:
            known = nearest(module.block, list(blocks))
            self.refuse("mtp.block", f"no block {module.block!r}{known}")
        return msgspec.structs.replace(module, tensors=tensors)

    def _tensors(self, raw: Any, path: str, scope: str) -> dict[str, Tensor]:
        tree = self._few(self.mapping(raw, path, None), path)
        for name in tree:
            self._check_name(name, f"{path}.{name}")
        return {name: self._tensor(tree[name], f"{path}.{name}", scope) for name in tree}

    def _tensor(self, raw: Any, path: str, scope: str) -> Tensor:
        tree = dict(self.mapping(raw, path, Tensor))
        sizes = tree.pop("dims", None)
        if not isinstance(sizes, list) or not 0 < len(sizes) <= MOST_DIMS:
            self.refuse(f"{path}.dims", f"1 to {MOST_DIMS} sizes or names of dimensions are needed")
        dims = tuple(self.size(size, f"{path}.dims", scope) for size in sizes)
        if tree.get("use") in ("matmul", "conv", "lookup") and len(dims) != 2:
            self.refuse(f"{path}.dims", f"a {tree['use']} has two, not {len(dims)}")
        counts = {
            field: self.size(tree.pop(field), f"{path}.{field}", scope)
            for field in ("copies", "used", "repeats")
            if field in tree
        }
        if product(*dims, *counts.values()).value > MOST_ELEMENTS:
            self.refuse(path, "no tensor is so large: at most 10^45 elements, all copies together")
        tensor = self.decode({**tree, "dims": []}, Tensor, path)
        return msgspec.structs.replace(tensor, dims=dims, **counts)

    def _few(self, tree: dict[str, Any], path: str) -> dict[str, Any]:
        if len(tree) > MOSTKINDS:
            self.refuse(path, f"{len(tree):,} entries; at most {MOSTKINDS:,} are read")
        return tree

    def _check_name(self, name: str, path: str) -> None:
        if name in COMPONENTS:
            self.refuse(path, f"{name!r} is the name of a component; call it otherwise")
        plain = name.replace("_", "").replace("-", "")
        if not (plain.isascii() and plain.isalnum() and name[0].isalpha()):
            self.refuse(path, "a name is letters, digits, '_' and '-', a letter first")

    def _check_parts_used(self) -> None:
        used = {name for name, _ in self._shared}
        for name in self._top.parts:
            if name not in used:
                self.refuse(f"parts.{name}", "no block uses this part")

    def _check_blocks(self, blocks: dict[str, Block], stacks: dict[str, Stack]) -> None:
        used: dict[str, str] = {}
        for field, stack_name in STACKS.items():
            stack = stacks.get(stack_name)
            for name in stack.counts if stack else ():
                if name not in blocks:
                    self.refuse(field, f"no block {name!r}{nearest(name, list(blocks))}")
                if name in used:
                    self.refuse(field, f"block {name!r} already belongs to {used[name]}")
                used[name] = field
        for name, block in blocks.items():
            if name not in used:
                self.refuse(f"blocks.{name}", "no stack uses this block")
            merged = getattr(block.attention, "merged", False)
            across = "cross_attention" if block.cross_attention else "attention.merged"
            alone = used[name] == "encoder" or "encoder" not in stacks
            if alone and (block.cross_attention or merged):
                self.refuse(f"blocks.{name}.{across}", "only a decoder beside an encoder has it")
            if block.cross_attention and block.cross_attention.window:
                where = f"blocks.{name}.cross_attention.window"
                self.refuse(where, "a query attends to all of the source; leave it out")
