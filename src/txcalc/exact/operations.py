"""The table of operations: each states its value, its formula and its Python.

Constants, letters, sums, products and quotients are *arithmetic*: the normal forms of printing and
of compiling are made of them, so both match on each.  So do they on ``first``, the least whole
number of a letter at which a condition holds, since its operands are functions of that letter.  Any
other operation is a :class:`Function`,
which both normal forms take for an atom; a new one is a new row here.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal, get_args

import msgspec

Arithmetic = Literal["const", "letter", "sum", "product", "quotient", "first"]
ARITHMETIC: tuple[Arithmetic, ...] = get_args(Arithmetic)


class Function(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """An operation that is no arithmetic.

    ``value`` is the exact function of its operands' values, which compiled code calls by ``name``;
    so does ``engine.js`` that of its own.
    ``formula`` makes its text of theirs, in letters or in numbers.  ``python`` makes its source of
    theirs: each prints as the number and has the parts ``above`` and ``below`` of a quotient.
    """

    name: str
    value: Callable[..., int | Fraction]
    formula: Callable[..., str]
    python: Callable[..., str]
    is_whole: bool = False
    """Whether its value is a whole number whatever its operands are."""

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name.upper()  # copies and pickles are the row of the table itself


def _call(name: str) -> Callable[..., str]:
    return lambda *args: f"{name}({', '.join(map(str, args))})"


def series_sum(power: int, low: int, high: int, cap: int | None = None) -> int:
    """Sum of ``t^power * min(t, cap)`` (of ``t^(power + 1)`` without a cap) for t = low .. high.

    ``power`` is 0 or 1; an empty range sums to 0.
    """
    if high < low:
        return 0
    up_to = _sum_of_squares if power else _sum_of_firsts
    return up_to(high, cap) - up_to(low - 1, cap)


def _sum_of_firsts(n: int, cap: int | None) -> int:
    m = n if cap is None else min(n, cap)
    return m * (m + 1) // 2 + (n - m) * m


def _sum_of_squares(n: int, cap: int | None) -> int:
    m = n if cap is None else min(n, cap)
    return m * (m + 1) * (2 * m + 1) // 6 + m * (n * (n + 1) - m * (m + 1)) // 2


def _series_formula(power: str, low: str, high: str, cap: str | None = None) -> str:
    step = "t" if cap is None else f"min(t, {cap})"
    body = f"t·{step}" if power == "1" else step
    return f"sum({body}, t={low}..{high})"


def true_places(n: int, *pattern: int) -> int:
    """How many places of ``pattern``, repeated endlessly, are 1 among its first ``n``."""
    whole, rest = divmod(n, len(pattern))
    return whole * sum(pattern) + sum(pattern[:rest])


def expected_distinct(n_experts: int, top_k: int | Fraction, tokens: int) -> Fraction:
    """Expected number of experts that ``tokens`` tokens reach when each picks ``top_k`` evenly.

    E * (1 - (1 - k/E)^n) to 40 significant digits; a mean of experts picked need not be whole.
    """
    from decimal import Context, Decimal

    digits = Context(prec=60)
    experts, unused = Decimal(n_experts), 1 - Fraction(top_k) / n_experts
    missed = digits.divide(Decimal(unused.numerator), Decimal(unused.denominator))
    left = digits.power(missed, tokens) if missed else Decimal(0)
    reached = digits.multiply(experts, digits.subtract(Decimal(1), left))
    return Fraction(Context(prec=40).plus(reached))


def _distinct_formula(n_experts: str, top_k: str, tokens: str) -> str:
    e, k = (f"({text})" if set(text) & set("·/^ ") else text for text in (n_experts, top_k))
    return f"({e}·(1 - (1 - {k}/{e})^({tokens})))"


FLOOR = Function(
    name="floor",
    value=lambda x: x // 1,
    formula=_call("floor"),
    python=lambda x: f"(({x.above})//({x.below}))",
    is_whole=True,
)
CEIL = Function(
    name="ceil",
    value=lambda x: -(-x // 1),
    formula=_call("ceil"),
    python=lambda x: f"(-(-({x.above})//({x.below})))",
    is_whole=True,
)
MIN = Function(name="min", value=min, formula=_call("min"), python=_call("min"))
MAX = Function(name="max", value=max, formula=_call("max"), python=_call("max"))
SERIES = Function(
    name="series",
    value=series_sum,
    formula=_series_formula,
    python=_call("series"),
    is_whole=True,
)
TALLY = Function(
    name="tally",
    value=true_places,
    formula=lambda n, *places: f"tally({n}, {''.join(places)})",
    python=_call("tally"),
    is_whole=True,
)
DISTINCT = Function(
    name="distinct",
    value=expected_distinct,
    formula=_distinct_formula,
    python=_call("distinct"),
)

CHOICES = (MIN, MAX)
"""Functions whose value is one of their operands."""
FUNCTIONS = (FLOOR, CEIL, MIN, MAX, SERIES, TALLY, DISTINCT)
