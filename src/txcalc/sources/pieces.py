"""The pieces of a description that stand in several places: blocks, parts, stacks, tensors."""

from typing import Any, get_args

import msgspec

from txcalc.errors import nearest
from txcalc.exact.condition import Condition
from txcalc.exact.quantity import LARGEST, Letter, const, product
from txcalc.model.parts import Attention, CrossAttention, Ffn, Positions, Ssm
from txcalc.model.parts.base import Part
from txcalc.model.parts.ffn import Mixture
from txcalc.model.parts.tensor import Tensor
from txcalc.model.structure import COMPONENTS, SUB_LAYERS, Arrangement, Block, Module, Stack
from txcalc.sources.decoding import Decoder

MOSTKINDS = 1000
"""Kinds of blocks, or tensors in one place, that a description may list."""
MOST_DIMS = 8
MOST_ELEMENTS = LARGEST**3
"""Elements of all copies: a matrix of the largest sizes, as often as there is a size."""
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


class Pieces(Decoder):
    """Decodes piece by piece; ``width`` is that of the residual stream of what is decoded."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.width: Letter | None = None
        self._parts: dict[str, Any] = {}
        self._shared: dict[tuple[str, str], tuple[Part, Letter]] = {}

    def block(self, name: str, raw: Any, path: str) -> Block:
        """One kind of layer."""
        self.check_name(name, path)
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
        named = self.tensors(tensors, f"{path}.tensors", f"{path}.")
        return Block(**msgspec.structs.asdict(arranged), tensors=named, **parts)

    def _part(self, raw: Any, role: str, where: str) -> Part | None:
        """A part as it stands, or one of ``parts`` by its name."""
        if raw is None:
            return None
        if not isinstance(raw, str):
            return self._kind(raw, role, f"{where}.{role}")
        if raw not in self._parts:
            self.refuse(f"{where}.{role}", f"no part {raw!r}{nearest(raw, list(self._parts))}")
        if (raw, role) not in self._shared:
            made = self._kind(self._parts[raw], role, f"parts.{raw}")
            self._shared[raw, role] = made, self._stream
        part, width = self._shared[raw, role]
        if width != self._stream:
            self.refuse(f"{where}.{role}", f"stacks of two widths share {raw!r}: describe it twice")
        return part

    @property
    def _stream(self) -> Letter:
        assert self.width is not None
        return self.width

    def _kind(self, raw: Any, role: str, path: str) -> Part:
        kinds = KINDS[role]
        kind = self.mapping(raw, path, None).get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            hint = nearest(kind, list(kinds)) if isinstance(kind, str) else f": {', '.join(kinds)}"
            problem = "no kind is given" if kind is None else f"unknown kind {kind!r}"
            self.refuse(f"{path}.kind", problem + hint)
        part = self.decode(raw, kinds[kind], path)
        bound = self.checked(lambda: part.bound(self._stream), path)
        for condition in bound.conditions(self._stream):
            self.require(condition, path)
        self.bind(bound, path)
        return bound

    def stack(self, raw: Any, field: str) -> Stack:
        """Layers in their order."""
        fields = dict(self.mapping(raw, field, Stack))
        positions = self._part(fields.pop("positions", None), "positions", field)
        stack = self.decode(fields, Stack, field)
        if field == "layers" and stack.d_model is not None:
            self.refuse("layers.d_model", "the decoder's width is the d_model of the whole")
        if field == "layers" and stack.length is not None:
            self.refuse("layers.length", "only an encoder's inputs are padded to one length")
        if field != "encoder" and stack.reads != "text":
            self.refuse(f"{field}.reads", "only an encoder reads something else than text")
        if not stack.pattern:
            self.refuse(f"{field}.pattern", "no block is named: list at least one")
        ends = const(len(stack.first) + len(stack.last))
        if ends.value:
            fewer = "{1} is below the {0} of first and last"
            self.require(Condition("at most", ends, stack.count, fewer), f"{field}.count")
        return msgspec.structs.replace(stack, positions=positions)

    def module(self, raw: Any, blocks: dict[str, Block]) -> Module:
        """Multi-token prediction."""
        fields = dict(self.mapping(raw, "mtp", Module))
        tensors = self.tensors(fields.pop("tensors", {}), "mtp.tensors", "mtp.")
        module = self.decode(fields, Module, "mtp")
        if module.block not in blocks:
            known = nearest(module.block, list(blocks))
            self.refuse("mtp.block", f"no block {module.block!r}{known}")
        return msgspec.structs.replace(module, tensors=tensors)

    def tensors(self, raw: Any, path: str, scope: str) -> dict[str, Tensor]:
        """Tensors by their names."""
        tree = self.few(self.mapping(raw, path, None), path)
        for name in tree:
            self.check_name(name, f"{path}.{name}")
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
        elements, most = product(*dims, *counts.values()), const(MOST_ELEMENTS)
        large = "no tensor is so large: at most 10^45 elements, all copies together"
        self.require(Condition("at most", elements, most, large), path)
        tensor = self.decode({**tree, "dims": []}, Tensor, path)
        if tensor.stream in ("patches", "projected") and not path.startswith("towers."):
            self.refuse(f"{path}.stream", f"only a tower has {tensor.stream}")
        return msgspec.structs.replace(tensor, dims=dims, **counts)

    def few(self, tree: dict[str, Any], path: str) -> dict[str, Any]:
        """The same mapping, once it is known to have few entries."""
        if len(tree) > MOSTKINDS:
            self.refuse(path, f"{len(tree):,} entries; at most {MOSTKINDS:,} are read")
        return tree

    def check_name(self, name: str, path: str) -> None:
        """Refuses a name that an address could not hold."""
        if name in COMPONENTS:
            self.refuse(path, f"{name!r} is the name of a component; call it otherwise")
        plain = name.replace("_", "").replace("-", "")
        if not (plain.isascii() and plain.isalnum() and name[0].isalpha()):
            self.refuse(path, "a name is letters, digits, '_' and '-', a letter first")

    def check_parts_used(self) -> None:
        """Refuses parts that no block names."""
        used = {name for name, _ in self._shared}
        for name in self._parts:
            if name not in used:
                self.refuse(f"parts.{name}", "no block uses this part")
