"""What a model is built of: blocks of sub-layers, stacks of blocks, embedding and head."""

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Literal

import msgspec

from txcalc.exact.counting import tally
from txcalc.exact.quantity import ZERO, Letter, Quantity, const, defined, total
from txcalc.model.order import Applied, Placement, branches, order
from txcalc.model.parts import Attention, CrossAttention, Ffn, Positions, Residual, Ssm
from txcalc.model.parts.base import Part, Slot, dim
from txcalc.model.parts.norm import Norm, norm_weights
from txcalc.model.parts.tensor import Tensor
from txcalc.model.rows import Op, Role, Scan, State, Weight, linear

SUB_LAYERS: tuple[Role, ...] = ("attention", "ssm", "cross_attention", "ffn")
COMPONENTS = (
    *SUB_LAYERS,
    "norms",
    "residual",
    "tensors",
    "matmul",
    "biases",
    "projections",
    "scores",
)
"""Names below a block's address, which no block may have."""


class Arrangement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a block says beside its sub-layers: where its norms stand, and how often it is run.

    ``pre`` and ``post`` norms stand before or after each sub-layer, ``post`` after its sum with the
    stream and ``output`` before that (arXiv:2501.00656); ``sandwich`` has both; ``parallel``
    sub-layers share one norm before them or, with ``parallel_two_norms``, have one each.
    ``shared`` layers of a kind have one set of weights; a pass runs a layer as often as it
    ``loops`` (arXiv:1807.03819), and each loop keeps a state of its own, or only the last one does.
    ``residual`` takes the place of the one residual stream.  A ``partial`` block has a
    ``mechanism``, named where it is known, that no part describes: only its tensors are counted.
    """

    norm: Norm
    placement: Placement = "pre"
    residual: Residual | None = None
    shared: bool = False
    loops: Annotated[Letter | None, dim("times that a pass runs each layer of this kind")] = None
    loop_state: Literal["each", "last"] = "each"
    partial: bool = False
    mechanism: str | None = None


class Block(Arrangement, frozen=True, kw_only=True, dict=True):
    """One kind of layer: its sub-layers by role, in an arrangement.

    Attention and ssm in one block run side by side behind one norm.
    """

    attention: Attention | None = None
    ssm: Ssm | None = None
    cross_attention: CrossAttention | None = None
    ffn: Ffn | None = None
    tensors: dict[str, Tensor] = {}

    @cached_property
    def roles(self) -> list[Role]:
        """The sub-layers there are."""
        return [role for role in SUB_LAYERS if getattr(self, role) is not None]

    @cached_property
    def order(self) -> list[Applied]:
        """Norms, sub-layers and sums, from the block's input to its output."""
        return list(order(self.roles, self.placement))

    def parts(
        self, d_model: Quantity, source: Quantity | None = None
    ) -> Iterator[tuple[Role, Part, Slot]]:
        """The sub-layers, each with the slot in which it stands."""
        for role in self.roles:
            across = role == "cross_attention"
            slot = Slot(d_model, "source", source) if across else Slot(d_model)
            yield role, getattr(self, role), slot

    def weights(self, d_model: Quantity, source: Quantity | None = None) -> dict[str, Weight]:
        """The tensors of one layer, each by component and name: ``attention.q``.

        An encoder's stream may be of another width, ``source``.
        """
        rows = {
            f"{role}.{row.name}": row
            for role, part, slot in self.parts(d_model, source)
            for row in part.weights(slot)
        }
        for step in self.order:
            if step.kind == "norm":
                norm = norm_weights(self.norm, step.name, d_model)
                rows |= {f"norms.{row.name}": row for row in norm}
        if self.residual is not None:
            residual = self.residual.weights(self._branches, d_model)
            rows |= {f"residual.{row.name}": row for row in residual}
        return rows | {f"tensors.{n}": tensor.weight(n) for n, tensor in self.tensors.items()}

    def operations(self, d_model: Quantity) -> dict[str, Op | Scan]:
        """The products without a weight of one layer: ``attention.scores``."""
        rows: dict[str, Op | Scan] = {
            f"{role}.{row.name}": row
            for role, part, slot in self.parts(d_model)
            for row in part.operations(slot)
        }
        if self.residual is not None:
            residual = self.residual.operations(self._branches, d_model)
            rows |= {f"residual.{row.name}": row for row in residual}
        return rows

    def state(self, d_model: Quantity) -> dict[str, State]:
        """What one layer keeps of a sequence: ``attention.keys``."""
        rows = {
            f"{role}.{row.name}": row
            for role, part, slot in self.parts(d_model)
            for row in part.state(slot)
        }
        beside = (row for name, tensor in self.tensors.items() for row in tensor.state(name))
        return rows | {f"tensors.{row.name}": row for row in beside}

    @property
    def _branches(self) -> list[Role]:
        """The sub-layers that leave the stream, of two side by side the first."""
        return [group[0] for group in branches(self.roles)]


class Stack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """``count`` layers: ``first`` blocks, then ``pattern`` again and again, then ``last``.

    What its layers share belongs to it: positions, token types, the norm of the embeddings and
    the norm after the last layer.  A stack with a ``vocab`` has a token table of its own; an
    encoder may be narrower or wider than the decoder, by a ``d_model`` of its own, may pad every
    input to one ``length``, and may be a tower that ``reads`` sound.
    """

    count: Annotated[Letter, dim("layers of the stack")]
    pattern: list[str]
    first: list[str] = []
    last: list[str] = []
    positions: Positions | None = None
    vocab: Annotated[Letter | None, dim("rows of the stack's own token table")] = None
    d_model: Annotated[Letter | None, dim("width of the stack's own residual stream")] = None
    length: Annotated[Letter | None, dim("tokens that every input is padded to")] = None
    token_types: Annotated[Letter | None, dim("rows of the token type table")] = None
    reads: Literal["text", "sound"] = "text"
    embedding_norm: Norm = "none"
    final_norm: Norm = "none"

    @cached_property
    def counts(self) -> dict[str, Quantity]:
        """How many layers there are of each kind of block."""
        names = list(dict.fromkeys([*self.first, *self.pattern, *self.last]))
        if len(names) == 1:
            return {names[0]: self.count}
        return {name: self._letter(name) for name in names}

    def _letter(self, name: str) -> Letter:
        """The letter for the layers of one kind among several."""
        stack = self.count.path.rpartition(".")[0]
        about = f"layers that are {name} blocks"
        letter = defined(f"n_{name}", self._count(name), f"{stack}.n_{name}", about)
        lists = ("first", "pattern", "last")
        letter.origin = f"{stack}.{next(f for f in lists if name in getattr(self, f))}"
        return letter

    def _count(self, name: str) -> Quantity:
        """Layers of one kind among several."""
        ends = self.first + self.last
        places = tuple(block == name for block in self.pattern)
        middle = self.count - const(len(ends)) if ends else self.count
        repeated = middle if all(places) else tally(middle, places) if any(places) else ZERO
        return total((repeated, const(ends.count(name))), "")

    def layers(self) -> Iterator[str]:
        """The block name of every layer in order."""
        yield from self.first
        middle = int(self.count.value) - len(self.first) - len(self.last)
        for i in range(middle):
            yield self.pattern[i % len(self.pattern)]
        yield from self.last

    def embedding(self, width: Quantity) -> dict[str, Weight]:
        """Tables and norm that stand before the first layer."""
        rows = [] if self.vocab is None else [table("tokens", self.vocab, width)]
        if self.positions is not None:
            rows += self.positions.weights(Slot(width))
        if self.token_types is not None:
            rows.append(table("token_types", self.token_types, width))
        return {row.name: row for row in (*rows, *norm_weights(self.embedding_norm, "norm", width))}

    def end(self, d_model: Quantity) -> dict[str, Weight]:
        """The norm after the last layer."""
        return {row.name: row for row in norm_weights(self.final_norm, "norm", d_model)}


class Embedding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token table narrower or wider than the stream, and the projection between them.

    ``all`` tables (positions, token types and their norm) are as wide, or only the tokens'
    (arXiv:1909.11942 section 3.1; arXiv:2205.01068's 350M model).
    """

    d_embed: Annotated[Letter, dim("width of the token embedding")]
    bias: bool = False
    all: bool = False


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The projection onto the vocabulary, tied to the token embedding or with its own weight.

    ``transform`` is the dense layer and the norm that a masked-language-model head begins with
    (arXiv:1810.04805's published code).  The output reads ``d_head`` channels: d_embed where
    that is given, else d_model.  It knows the whole vocabulary, or the ``n_outputs`` entries that
    may be generated.
    """

    tied: bool
    bias: bool = False
    transform: Norm | None = None
    transform_bias: bool = True
    d_head: Annotated[Letter | None, dim("channels that the output projection reads")] = None
    n_outputs: Annotated[Letter | None, dim("rows of the output projection")] = None

    def weights(self, d_model: Quantity, width: Quantity, vocab: Quantity) -> list[Weight]:
        """The tensors of the head; a tied output is stored with the embedding."""
        narrow = (self.d_head or width,)
        rows = (self.n_outputs or vocab,)
        output = linear("output", narrow, rows, bias=self.bias, tied=self.tied)
        if self.transform is None:
            return output
        return [
            *linear("transform", (d_model,), narrow, bias=self.transform_bias),
            *norm_weights(self.transform, "transform_norm", *narrow),
            *output,
        ]


class Module(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Multi-token prediction: ``n_modules`` blocks beside the model, with ``tensors`` of their own.

    arXiv:2412.19437 section 2.2.
    """

    n_modules: Annotated[Letter, dim("multi-token-prediction modules")]
    block: str
    tensors: dict[str, Tensor] = {}


def table(name: str, rows: Quantity, width: Quantity) -> Weight:
    """A look-up table, one row of ``width`` channels each."""
    return Weight(name=name, use="lookup", inputs=(rows,), outputs=(width,))
