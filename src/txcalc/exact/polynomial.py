"""A derivation as a quotient of polynomials: what is left of it to compute at each point.

Constants are folded and products distributed over sums.  The polynomials are in *atoms*: chosen
letters, and functions of such quotients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import msgspec

from txcalc.exact.operations import Function
from txcalc.exact.quantity import Letter, Number, Operation, Quantity, ratio, walk

Monomial = tuple[tuple[int, int], ...]
"""Atoms, by their place among all, each with its power."""
Polynomial = dict[Monomial, Number]
"""Monomial -> coefficient, none of them zero."""


class Rational(msgspec.Struct, frozen=True):
    """``above`` over ``below``."""

    above: Polynomial
    below: Polynomial


class Variable(msgspec.Struct, frozen=True):
    """A chosen letter."""

    name: str


class Call(msgspec.Struct, frozen=True):
    """A function of values that are not all constant."""

    function: Function
    args: tuple[Rational, ...]


class First(msgspec.Struct, frozen=True):
    """The least whole number of the atom ``bound`` at which ``gap`` is not negative."""

    bound: int
    gap: Rational


Atom = Variable | Call | First


class Polynomials:
    """Brings derivations into normal form; letters that are not chosen stay constants.

    A letter of the question is chosen by its name, a dimension by the path where it was read:
    ``places`` gives each such path one of the names.  ``atoms`` are the chosen letters and then the
    calls, each after those that stand in its operands; equal calls are one atom.
    """

    def __init__(self, letters: Sequence[str], places: Mapping[str, str] = {}) -> None:
        self.atoms: list[Atom] = list(map(Variable, letters))
        self._letters = {name: atom for atom, name in enumerate(letters)}
        self._places = places
        self._calls: dict[object, int] = {}
        self._bound: dict[int, int] = {}
        self._known: dict[int, tuple[Quantity, Rational]] = {}

    def of(self, node: Quantity) -> Rational:
        """The normal form of a quantity's value."""
        if id(node) not in self._known:
            self._known[id(node)] = node, _reduced(self._made(node))
        return self._known[id(node)][1]

    def _made(self, node: Quantity) -> Rational:
        match node.op:
            case "const":
                return _constant(node.value)
            case "letter":
                return self._letter(node)
            case "first":
                return self._first(node)
            case op:
                args = tuple(map(self.of, node.args))
                if all(map(_is_constant, args)):
                    return _constant(node.value)
                return self._of_operands(op, args)

    def _of_operands(self, op: Operation, args: tuple[Rational, ...]) -> Rational:
        match op:
            case "sum":
                return _total(args)
            case "product":
                return reduce(_times, sorted(args, key=_terms))
            case "quotient":
                above, below = args
                return _times(above, Rational(below.below, below.above))
            case Function() as function:
                return self._call(function, args)
            case _:
                raise ValueError(f"{op} has no operands")

    def _first(self, node: Quantity) -> Rational:
        if not self._is_chosen(node):
            return _constant(node.value)
        letter, a, b = node.args
        assert isinstance(letter, Letter)
        self._bound[id(letter)] = bound = len(self.atoms)
        self.atoms.append(Variable(f"{letter.name}, bound at {bound}"))
        gap = _plus(self.of(a), _times(_constant(-1), self.of(b)))
        self.atoms.append(First(bound, gap))
        return _atom(len(self.atoms) - 1)

    def _is_chosen(self, root: Quantity) -> bool:
        """Whether a chosen letter stands in a derivation."""
        nodes = list(walk(root))
        bound = {id(node.args[0]) for node in nodes if node.op == "first"}
        letters = (node for node in nodes if isinstance(node, Letter) and id(node) not in bound)
        return any(self._name(letter) in self._letters for letter in letters)

    def _name(self, letter: Letter) -> str:
        """The name under which a letter may be chosen."""
        return self._places.get(letter.path, "") if letter.path else letter.name

    def _letter(self, node: Quantity) -> Rational:
        assert isinstance(node, Letter)
        if id(node) in self._bound:
            return _atom(self._bound[id(node)])
        if node.definition is not None:
            return self.of(node.definition)
        name = self._name(node)
        return _atom(self._letters[name]) if name in self._letters else _constant(node.value)

    def _call(self, function: Function, args: tuple[Rational, ...]) -> Rational:
        key = (function, *map(_key, args))
        if key not in self._calls:
            self._calls[key] = len(self.atoms)
            self.atoms.append(Call(function, args))
        return _atom(self._calls[key])


_WHOLE: Polynomial = {(): 1}
"""The denominator of what has none."""


def _constant(value: Number) -> Rational:
    return Rational({(): value} if value else {}, {(): 1})


def _atom(place: int) -> Rational:
    return Rational({((place, 1),): 1}, {(): 1})


def _is_constant(value: Rational) -> bool:
    return all(not monomial for p in (value.above, value.below) for monomial in p)


def _key(value: Rational) -> object:
    return frozenset(value.above.items()), frozenset(value.below.items())


def _total(values: Sequence[Rational]) -> Rational:
    """The sum of all, of those without a denominator in one go."""
    whole: Polynomial = {}
    others = []
    for value in values:
        if value.below != _WHOLE:
            others.append(value)
            continue
        for monomial, coefficient in value.above.items():
            whole[monomial] = whole.get(monomial, 0) + coefficient
    above = {monomial: c for monomial, c in whole.items() if c}
    return reduce(_plus, others, Rational(above, _WHOLE))


def _terms(value: Rational) -> int:
    """How many terms a value has; constants have the fewest."""
    return -1 if _is_constant(value) else len(value.above) + len(value.below)


def _plus(a: Rational, b: Rational) -> Rational:
    if a.below == b.below:
        return Rational(_sum(a.above, b.above), a.below)
    above = _sum(_product(a.above, b.below), _product(b.above, a.below))
    return Rational(above, _product(a.below, b.below))


def _times(a: Rational, b: Rational) -> Rational:
    if _is_constant(a) and a.below == _WHOLE:
        factor = a.above.get((), 0)
        scaled = {monomial: factor * c for monomial, c in b.above.items()} if factor else {}
        return Rational(scaled, b.below)
    return _reduced(Rational(_product(a.above, b.above), _product(a.below, b.below)))


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    terms = dict(a)
    for monomial, coefficient in b.items():
        terms[monomial] = terms.get(monomial, 0) + coefficient
    return {monomial: c for monomial, c in terms.items() if c}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    terms: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            powers = dict(left)
            for atom, power in right:
                powers[atom] = powers.get(atom, 0) + power
            monomial = tuple(sorted(powers.items()))
            terms[monomial] = terms.get(monomial, 0) + x * y
    return {monomial: c for monomial, c in terms.items() if c}


def _reduced(value: Rational) -> Rational:
    """Cancels a denominator of one term."""
    if len(value.below) != 1:
        return value
    [(monomial, coefficient)] = value.below.items()
    if not monomial and coefficient == 1:
        return value
    shared = {
        atom: min([power, *(dict(m).get(atom, 0) for m in value.above)]) for atom, power in monomial
    }
    return Rational(
        {_without(m, shared): ratio(c, coefficient) for m, c in value.above.items()},
        {_without(monomial, shared): 1},
    )


def _without(monomial: Monomial, shared: dict[int, int]) -> Monomial:
    return tuple((atom, left) for atom, p in monomial if (left := p - shared.get(atom, 0)))
