"""A derivation in print: ``4·d_model·n_heads·head_dim`` and ``4·768·12·64``.

Printing collects like terms and never distributes over a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import reduce

import msgspec

from txcalc.exact.operations import Function
from txcalc.exact.quantity import Letter, Quantity, walk


def symbolic(quantity: Quantity) -> str:
    """The formula of a quantity in letters."""
    return Printer(quantity).write(quantity)[0]


def substituted(quantity: Quantity) -> str:
    """The same formula with the letters' numbers put in."""
    return Printer(quantity).write(quantity)[1]


Text = tuple[str, str]
"""One piece of a formula, in letters and in numbers."""


class _Term(msgspec.Struct, frozen=True):
    """``coefficient`` times a product of pieces, each with its power."""

    coefficient: Fraction
    powers: dict[Text, int]


class Printer:
    """Names the letters of one derivation and brings its nodes into normal form.

    Nodes that ``called`` names (by identity) stand in a formula under that name, except on top.
    """

    def __init__(
        self,
        root: Quantity,
        called: Mapping[int, str] | None = None,
        names: Mapping[int, str] | None = None,
    ) -> None:
        self.names = names_of(root) if names is None else names
        self._called = called or {}
        self._known: dict[int, list[_Term]] = {}
        self._bound: set[int] = set()

    def write(self, node: Quantity) -> Text:
        """A formula in letters, and with the numbers put in."""
        return _both(_collect(self._expand(node)))

    def terms(self, node: Quantity) -> list[_Term]:
        """A node as a sum of terms, like terms collected."""
        if id(node) in self._called:
            return [_piece((self._called[id(node)], _number(node.value)))]
        if id(node) not in self._known:
            self._known[id(node)] = _collect(self._expand(node))
        return self._known[id(node)]

    def _expand(self, node: Quantity) -> Iterable[_Term]:
        match node.op:
            case "const":
                return [_Term(Fraction(node.value), {})]
            case "letter":
                name = self.names[id(node)]
                return [_piece((name, name if id(node) in self._bound else _number(node.value)))]
            case "sum":
                return [term for arg in node.args for term in self.terms(arg)]
            case "product" if len(node.args) == 1:
                return self.terms(node.args[0])
            case "product":
                return [reduce(_times, (self._factor(arg) for arg in node.args))]
            case "quotient":
                above, below = map(self._factor, node.args)
                return [_times(above, _inverse(below))]
            case "first":
                self._bound.add(id(node.args[0]))
                (name, _), *sides = (_both(self.terms(arg)) for arg in node.args)
                return [_piece(f"first({name}: {a} >= {b})" for a, b in zip(*sides, strict=True))]
            case Function() as function:
                texts = zip(*(_both(self.terms(arg)) for arg in node.args), strict=True)
                return [_piece(function.formula(*operands) for operands in texts)]

    def _factor(self, node: Quantity) -> _Term:
        terms = self.terms(node)
        if not terms:
            return _Term(Fraction(0), {})
        return terms[0] if len(terms) == 1 else _piece(f"({text})" for text in _both(terms))


def _value(letter: Letter) -> object:
    return letter.value


def names_of(root: Quantity, same: Callable[[Letter], object] = _value) -> dict[int, str]:
    """What to call each letter: the shortest end of its path that means one thing alone.

    That is one value, or what ``same`` is of a letter.  Where even the whole path means several
    (keys of a window that both stacks share), a number.
    """
    letters = [node for node in walk(root) if isinstance(node, Letter)]
    names: dict[int, str] = {}
    for spelled in (_alone, _with_owner, _whole):
        values: dict[str, set[object]] = {}
        for letter in letters:
            values.setdefault(spelled(letter), set()).add(same(letter))
        for letter in letters:
            if len(values[spelled(letter)]) == 1:
                names.setdefault(id(letter), spelled(letter))
    left: dict[str, list[object]] = {}
    for letter in letters:
        if id(letter) not in names:
            values_left = left.setdefault(_whole(letter), [])
            if same(letter) not in values_left:
                values_left.append(same(letter))
            names[id(letter)] = f"{_whole(letter)}_{values_left.index(same(letter)) + 1}"
    return names


def _alone(letter: Letter) -> str:
    return letter.name


def _with_owner(letter: Letter) -> str:
    """The name behind the block, part or stack that a letter belongs to: ``dense.d_ff``."""
    head, *rest = letter.path.split(".")
    if not rest:
        return letter.name
    return f"{rest[0] if head in ('blocks', 'parts') else head}.{letter.name}"


def _whole(letter: Letter) -> str:
    """The name behind all of its path but the first word of a block's or a part's."""
    folder = letter.path.removeprefix("blocks.").removeprefix("parts.").rpartition(".")[0]
    return f"{folder}.{letter.name}" if folder else letter.name


def _piece(texts: Iterable[str]) -> _Term:
    letters, numbers = texts
    return _Term(Fraction(1), {(letters, numbers): 1})


def _times(a: _Term, b: _Term) -> _Term:
    powers = dict(a.powers)
    for text, power in b.powers.items():
        powers[text] = powers.get(text, 0) + power
    return _Term(a.coefficient * b.coefficient, {t: p for t, p in powers.items() if p})


def _inverse(term: _Term) -> _Term:
    return _Term(1 / term.coefficient, {text: -power for text, power in term.powers.items()})


def _collect(terms: Iterable[_Term]) -> list[_Term]:
    like: dict[frozenset[tuple[Text, int]], _Term] = {}
    for term in terms:
        key = frozenset(term.powers.items())
        known = like.get(key)
        like[key] = _Term(known.coefficient + term.coefficient, known.powers) if known else term
    return [term for term in like.values() if term.coefficient]


def _both(terms: list[_Term]) -> Text:
    return _sum(terms, 0), _sum(terms, 1)


def _sum(terms: list[_Term], reading: int) -> str:
    text = ""
    for term in terms:
        sign = "-" if term.coefficient < 0 else "+"
        written = _term(term, reading)
        text = f"{text} {sign} {written}" if text else written if sign == "+" else f"-{written}"
    return text or "0"


def _term(term: _Term, reading: int) -> str:
    above = [_power(t[reading], p) for t, p in term.powers.items() if p > 0]
    below = [_power(t[reading], -p) for t, p in term.powers.items() if p < 0]
    coefficient = abs(term.coefficient)
    if coefficient.numerator != 1 or not above:
        above.insert(0, str(coefficient.numerator))
    if coefficient.denominator != 1:
        below.insert(0, str(coefficient.denominator))
    text = "·".join(above)
    if below:
        text += "/" + (below[0] if len(below) == 1 else f"({'·'.join(below)})")
    return text


def _power(text: str, power: int) -> str:
    return text if power == 1 else f"{text}^{power}"


def _number(value: int | Fraction) -> str:
    return str(value) if isinstance(value, int) and value >= 0 else f"({value})"
