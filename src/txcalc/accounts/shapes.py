"""The shape of every tensor on its way through a block."""

from __future__ import annotations

from collections.abc import Iterator

from txcalc.accounts.question import Question, positive, refuse_partial
from txcalc.exact.quantity import Letter, Quantity, product
from txcalc.model.model import Layers, Model
from txcalc.model.rows import Op, Weight
from txcalc.model.structure import Block
from txcalc.report.report import Report, Shape

CONVENTIONS = [
    "B sequences of T tokens: (B, T, width), by head (B, heads, T, width of a head)",
    "stream: where a branch leaves the residual stream and where it is added back to it",
]
_PARALLEL = ("parallel", "parallel_two_norms")

Point = tuple[str, Shape, str]
"""A point's name below its block, its shape, and what happens to the residual stream there."""


def account(model: Model, question: Question) -> Report:
    """Every point of every kind of block, ``tokens`` of them in ``batch`` sequences."""
    refuse_partial(model)
    batch = Letter(positive("batch", question.batch).value, "B")
    tokens = Letter(positive("tokens", question.tokens).value, "T")
    points = {
        f"shapes.block.{kind.name}.{name}": (shape, note)
        for kind in model.layers
        for name, shape, note in _Block(kind, batch, tokens).points()
    }
    return Report(
        title="shapes",
        model=model.name,
        source=model.source,
        figures={},
        shown=list(points),
        shapes={address: shape for address, (shape, _) in points.items()},
        notes={address: note for address, (_, note) in points.items() if note},
        block_kinds=list(model.blocks),
        assumptions=[f"B = {batch.value:,}", f"T = {tokens.value:,}"],
        conventions=CONVENTIONS,
    )


class _Block:
    """Walks one block in the order in which it runs."""

    def __init__(self, kind: Layers, batch: Letter, tokens: Letter) -> None:
        self._block: Block = kind.block
        self._rows = kind.rows
        self._d_model = kind.d_model
        self._batch = batch
        self._tokens = tokens
        self._stream: Shape = (batch, tokens, kind.d_model)

    def points(self) -> Iterator[Point]:
        """From the block's input to its output."""
        yield "input", self._stream, ""
        yield from self._norm("before")
        roles = [role for role, *_ in self._block.parts(self._d_model)]
        parallel = self._block.placement in _PARALLEL
        for role in roles:
            yield from self._norm(f"before_{role}")
            yield from self._branch(role)
            post = self._block.placement == "post"
            if not post:
                yield from self._norm(f"after_{role}")
            if not parallel or role == roles[-1]:
                yield f"{role}.sum", self._stream, "rejoins"
            if post:
                yield from self._norm(f"after_{role}")

    def _norm(self, place: str) -> Iterator[Point]:
        if f"norms.{place}" in self._rows:
            yield f"norms.{place}", self._stream, ""

    def _branch(self, role: str) -> Iterator[Point]:
        """A sub-layer: its products, those without a weight before the one that reads the heads."""
        products = [
            (name.removeprefix(f"{role}."), row)
            for name, row in self._rows.items()
            if name.startswith(f"{role}.") and row.use == "matmul"
        ]
        names = [name for name, _ in products]
        out = names.index("o_down") if "o_down" in names else len(products) - 1
        points = [(f"{role}.{name}", self._product(row)) for name, row in products]
        scores = self._scores(role)
        if scores:
            scores.append((f"{role}.merged", self._merged(products[out][1])))
        for i, (name, shape) in enumerate([*points[:out], *scores, *points[out:]]):
            yield name, shape, "" if i else "leaves"

    def _product(self, row: Weight) -> Shape:
        match row.outputs:
            case (heads, width):
                return self._batch, heads, self._tokens, width
            case _:
                copies: Shape = () if row.used.value == 1 else (row.used,)
                return self._batch, self._tokens, *copies, *row.outputs

    def _scores(self, role: str) -> list[tuple[str, Shape]]:
        return [
            (name, (self._batch, op.heads, self._tokens, self._keys(op)))
            for name, op in self._block.operations(self._d_model).items()
            if isinstance(op, Op) and name.startswith(f"{role}.")
        ]

    def _keys(self, op: Op) -> Quantity:
        return self._tokens if op.block is None else self._tokens // op.block

    def _merged(self, out: Weight) -> Shape:
        """The heads side by side, as the product after them reads them."""
        return self._batch, self._tokens, product(out.used, *out.inputs)
