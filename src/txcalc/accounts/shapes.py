"""The shape of every tensor on its way through a block."""

from __future__ import annotations

from collections.abc import Iterator

from txcalc.accounts.account import Account
from txcalc.accounts.setting import Setting
from txcalc.exact.quantity import Letter, Quantity, product
from txcalc.model.model import Layers, Model
from txcalc.model.rows import Op, Weight
from txcalc.report import address as grammar
from txcalc.report.report import Report, Shape
from txcalc.workload.question import Question, positive
from txcalc.workload.reach import Entries

CONVENTIONS = [
    "B sequences of T tokens: (B, T, width), by head (B, heads, T, width of a head)",
    "stream: where a branch leaves the residual stream and where it is added back to it",
]

Point = tuple[str, Shape, str]
"""A point's name below its block, its shape, and what happens to the residual stream there."""


def report(model: Model, question: Question) -> Report:
    """Every point of every kind of block, ``tokens`` of them in ``batch`` sequences."""
    Setting(model, question).refuse_partial()
    batch = Letter(positive("batch", question.batch).value, "B")
    tokens = Letter(positive("tokens", question.tokens).value, "T")
    points = {
        f"{grammar.block('shapes', kind.name)}.{name}": (shape, note)
        for kind in model.layers
        for name, shape, note in _Block(kind, batch, tokens).points()
    }
    return Report(
        title="shapes",
        figures={},
        shown=list(points),
        shapes={address: shape for address, (shape, _) in points.items()},
        notes={address: note for address, (_, note) in points.items() if note},
        assumptions=[f"B = {batch.value:,}", f"T = {tokens.value:,}"],
        conventions=CONVENTIONS,
    )


class _Block:
    """Walks one block in the order in which it runs."""

    def __init__(self, kind: Layers, batch: Letter, tokens: Letter) -> None:
        self._kind = kind
        self._batch = batch
        self._tokens = tokens
        self._stream: Shape = (batch, tokens, kind.d_model)

    def points(self) -> Iterator[Point]:
        """From the block's input to its output."""
        yield "input", self._stream, ""
        for step in self._kind.block.order:
            match step.kind:
                case "norm" if f"norms.{step.name}" in self._kind.weights:
                    yield f"norms.{step.name}", self._stream, ""
                case "norm":
                    pass
                case "branch":
                    yield from self._branch(step.name)
                case "sum":
                    yield f"{step.name}.sum", self._stream, "rejoins"

    def _branch(self, role: str) -> Iterator[Point]:
        """A sub-layer: its products, those without a weight before the one that reads the heads."""
        products = [
            (name.removeprefix(f"{role}."), row)
            for name, row in self._kind.weights.items()
            if grammar.is_below(name, role) and row.use == "matmul"
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
                return self._batch, product(row.used, heads), self._tokens, width
            case _:
                copies: Shape = () if row.used.value == 1 else (row.used,)
                return self._batch, self._tokens, *copies, *row.outputs

    def _scores(self, role: str) -> list[tuple[str, Shape]]:
        return [
            (name, (self._batch, op.heads, self._tokens, self._keys(op)))
            for name, op in self._kind.operations.items()
            if isinstance(op, Op) and grammar.is_below(name, role)
        ]

    def _keys(self, op: Op) -> Quantity:
        return op.reach.kept(self._tokens) if isinstance(op.reach, Entries) else self._tokens

    def _merged(self, out: Weight) -> Shape:
        """The heads side by side, as the product after them reads them."""
        return self._batch, self._tokens, product(out.used, *out.inputs)


ACCOUNT = Account(reads=("batch", "tokens"), make=report, layout="shapes", one=True)
