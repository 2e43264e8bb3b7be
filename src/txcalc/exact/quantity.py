"""Exact numbers that carry their unit and remember how they came to be.

A :class:`Quantity` is a value and the operation with its operands that produced it, as in a small
automatic-differentiation engine. Equality looks at value and unit alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

from txcalc.errors import UnitError
from txcalc.exact.operations import CEIL, DISTINCT, FLOOR, MAX, MIN, Arithmetic, Function

Number = int | Fraction
LARGEST = 10**15
"""The largest size of a dimension and length of a text that is taken for one."""

Operation = Arithmetic | Function


class Quantity:
    """``value`` in ``unit`` ("" for a pure number), made by ``op`` from ``args``."""

    __slots__ = ("args", "op", "unit", "value")

    def __init__(
        self,
        value: Number,
        unit: str = "",
        op: Operation = "const",
        args: tuple[Quantity, ...] = (),
    ) -> None:
        self.value = value
        self.unit = unit
        self.op: Operation = op
        self.args = args

    def __add__(self, other: Quantity) -> Quantity:
        return total((self, other), self.unit)

    def __sub__(self, other: Quantity) -> Quantity:
        return total((self, product(MINUS_ONE, other)), self.unit)

    def __mul__(self, other: Quantity) -> Quantity:
        return product(self, other)

    def __truediv__(self, other: Quantity) -> Quantity:
        unit = _unit_over(self.unit, other.unit)
        return Quantity(ratio(self.value, other.value), unit, "quotient", (self, other))

    def __floordiv__(self, other: Quantity) -> Quantity:
        quotient = self / other
        return applied(FLOOR, quotient.unit, quotient)

    def counted_as(self, unit: str) -> Quantity:
        """The same pure number as a count of ``unit``."""
        if self.unit:
            raise UnitError(f"{self.unit} cannot be counted as {unit}")
        if self.op == "const" and self.value in (0, 1):  # which products fold away
            return Quantity(self.value, unit)
        return Quantity(self.value, unit, "product", (self,))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self.value == other.value and self.unit == other.unit

    def __hash__(self) -> int:
        return hash((self.value, self.unit))

    def __repr__(self) -> str:
        return f"<{self.value}{' ' if self.unit else ''}{self.unit} by {self.op}>"


class Letter(Quantity):
    """A named number: a dimension of a model, a part of the question, or one defined by others.

    ``path`` is where it was read (``blocks.dense.ffn.d_ff``); ``definition`` is the derivation of
    a letter that is defined rather than read; ``about`` is what it means, or the struct and field
    whose metadata say what it means; ``origin`` is the key of a config.json that it came from.
    """

    __slots__ = ("about", "definition", "name", "origin", "path")

    def __init__(
        self,
        value: Number,
        name: str = "",
        path: str = "",
        definition: Quantity | None = None,
        unit: str = "",
        about: str | tuple[type, str] = "",
    ) -> None:
        super().__init__(value, unit, "letter")
        self.name = name
        self.path = path
        self.definition = definition
        self.about = about
        self.origin = ""

    def __repr__(self) -> str:
        return f"<{self.name} = {self.value}>"


def defined(name: str, definition: Quantity, path: str = "", about: str = "") -> Letter:
    """A letter that stands for ``definition`` and keeps its own name in formulas."""
    return Letter(definition.value, name, path, definition, definition.unit, about)


def const(value: Number, unit: str = "") -> Quantity:
    """A number that is itself."""
    return Quantity(value, unit)


def exact(value: Number) -> Number:
    """An integer wherever the value is one."""
    return value.numerator if value.denominator == 1 else value


def ratio(above: Number, below: Number) -> Number:
    """An exact quotient, an integer wherever it is one."""
    if isinstance(above, int) and isinstance(below, int):
        whole, rest = divmod(above, below)
        return Fraction(above, below) if rest else whole
    return exact(Fraction(above) / below)


ZERO = const(0)
ONE = const(1)
TWO = const(2)
MINUS_ONE = const(-1)


def total(terms: Iterable[Quantity], unit: str) -> Quantity:
    """The sum of ``terms``, all in ``unit``; of none of them, zero.

    Raises:
        UnitError: a term in another unit.
    """
    value: Number = 0
    kept = []
    for term in terms:
        if term.unit != unit:
            raise UnitError(f"{term.unit or 'a pure number'} added to {unit or 'a pure number'}")
        if term.op != "const" or term.value:
            value += term.value
            kept.append(term)
    if len(kept) == 1:
        return kept[0]
    if not isinstance(value, int):
        value = exact(value)
    return Quantity(value, unit, "sum" if kept else "const", tuple(kept))


def product(*factors: Quantity) -> Quantity:
    """The product of ``factors``; zero and one fold away.

    Raises:
        UnitError: two factors whose units do not cancel to one.
    """
    value: Number = 1
    unit = ""
    kept = []
    vanishes = False
    for factor in factors:
        if factor.unit:
            unit = _unit_times(unit, factor.unit) if unit else factor.unit
        if factor.op == "const":
            if factor.value == 1:
                continue
            vanishes = vanishes or not factor.value
        value *= factor.value
        kept.append(factor)
    if vanishes:
        return Quantity(0, unit)
    if len(kept) == 1 and kept[0].unit == unit:
        return kept[0]
    if not isinstance(value, int):
        value = exact(value)
    return Quantity(value, unit, "product" if kept else "const", tuple(kept))


def applied(function: Function, unit: str, *args: Quantity) -> Quantity:
    """A function of the table, of ``args``, in ``unit``."""
    value = function.value(*[arg.value for arg in args])
    return Quantity(exact(value), unit, function, args)


def ceil_div(a: Quantity, b: Quantity) -> Quantity:
    """``a / b`` rounded up."""
    quotient = a / b
    return applied(CEIL, quotient.unit, quotient)


def least(a: Quantity, b: Quantity) -> Quantity:
    """The smaller of two quantities of one unit."""
    return applied(MIN, _same_unit(a, b), a, b)


def most(a: Quantity, b: Quantity) -> Quantity:
    """The larger of two quantities of one unit."""
    return applied(MAX, _same_unit(a, b), a, b)


def walk(root: Quantity, stop: Iterable[Quantity] = ()) -> Iterator[Quantity]:
    """Every node of a derivation once, definitions of letters included, down to ``stop``."""
    seen = {id(node) for node in stop}
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(reversed(_below(node)))


def _below(node: Quantity) -> tuple[Quantity, ...]:
    """What a node was made from: its operands, or the definition of a letter that has one."""
    if isinstance(node, Letter) and node.definition is not None:
        return (node.definition,)
    return node.args


def is_estimate(root: Quantity) -> bool:
    """Whether an expected number, the one kind of estimate, went into a quantity."""
    return any(node.op is DISTINCT for node in walk(root))


def same_derivation(a: Quantity, b: Quantity) -> bool:
    """Whether two quantities came about alike: same operations on letters of one name and value."""
    return _made_alike(a, b, lambda x, y: x == y and _name(x) == _name(y))


def same_structure(a: Quantity, b: Quantity, places: Container[str]) -> bool:
    """Whether two derivations differ at most in the values of letters read at ``places``."""

    def alike(x: Quantity, y: Quantity) -> bool:
        if not (isinstance(x, Letter) and isinstance(y, Letter)):
            return x.op != "const" or x.value == y.value
        is_open = x.definition is not None or x.path in places
        return (x.name, x.path) == (y.name, y.path) and (is_open or x.value == y.value)

    return _made_alike(a, b, alike)


def _made_alike(a: Quantity, b: Quantity, alike: Callable[[Quantity, Quantity], bool]) -> bool:
    """Whether the same operations made two quantities from nodes that are pairwise alike."""
    pairs, seen = [(a, b)], set()
    while pairs:
        x, y = pairs.pop()
        if x is y or (id(x), id(y)) in seen:
            continue
        seen.add((id(x), id(y)))
        of_x, of_y = _below(x), _below(y)
        if (x.op, x.unit, len(of_x)) != (y.op, y.unit, len(of_y)) or not alike(x, y):
            return False
        pairs.extend(zip(of_x, of_y, strict=True))
    return True


def _name(node: Quantity) -> str:
    return node.name if isinstance(node, Letter) else ""


@lru_cache(maxsize=64)
def _unit_times(a: str, b: str) -> str:
    if not a or not b:
        return a or b
    for rate, count in ((a, b), (b, a)):
        above, _, below = rate.partition("/")
        if below and below + "s" == count:
            return above
    raise UnitError(f"{a} times {b}")


@lru_cache(maxsize=64)
def _unit_over(a: str, b: str) -> str:
    if a == b:
        return ""
    if not b:
        return a
    above, _, counted = b.partition("/")
    if counted and above == a:
        return f"{counted}s"
    if counted and a.endswith(f"/{counted}"):
        return _unit_over(a.removesuffix(f"/{counted}"), above)
    if not a or "/" in a or counted:
        raise UnitError(f"{a or 'a pure number'} over {b}")
    return f"{a}/{b.removesuffix('s')}"


def _same_unit(a: Quantity, b: Quantity) -> str:
    if a.unit != b.unit:
        raise UnitError(f"{a.unit or 'a pure number'} compared with {b.unit or 'a pure number'}")
    return a.unit
