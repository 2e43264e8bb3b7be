"""A claim, and whether it holds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import msgspec

from txcalc.accounts import ask
from txcalc.accounts.question import Question
from txcalc.claims.expression import evaluate
from txcalc.claims.written import Written, WrittenError, read
from txcalc.errors import OptionError, TxcalcError, nearest
from txcalc.model import Model
from txcalc.numerals import binary, decimal
from txcalc.quantity import Quantity
from txcalc.sources.load import load

Relation = Literal["rounds", "truncates", "over", "under", "within"]
Expect = Literal["holds", "misprint", "rounded-inputs"]
Options = dict[str, Any]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number that a document states about a model.

    ``claim`` is an address or arithmetic over addresses; ``value`` the number as written.  A
    ``misprint`` has to fail, and ``should_be`` to hold; with ``rounded-inputs`` the documented
    number follows from ``inputs``, not from the exact figure.
    """

    id: str
    model: str
    claim: str
    value: str
    says: str = ""
    source: str = ""
    options: Options = {}
    relation: Relation = "rounds"
    tolerance: str = ""
    because: str = ""
    expect: Expect = "holds"
    should_be: str = ""
    inputs: str = ""


class Place(msgspec.Struct, frozen=True):
    """Where a claim stands: a file, its line, and the span of the written number."""

    file: str
    line: int
    start: int = 0
    end: int = 0


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A claim, what was computed, and what is wrong with it, if anything."""

    claim: Claim
    place: Place
    computed: Quantity | None = None
    written: Written | None = None
    problem: str = ""
    unreadable: bool = False

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problem


def check(claim: Claim, place: Place) -> Verdict:
    """Computes a claim and compares."""
    try:
        model, question = _ask(claim)
        computed = evaluate(claim.claim, lambda name: _figure(name, model, question))
        written = read(claim.value, computed.unit)
        problem = _problem(claim, written, computed)
    except TxcalcError as error:
        return Verdict(claim=claim, place=place, problem=str(error), unreadable=True)
    return Verdict(claim=claim, place=place, computed=computed, written=written, problem=problem)


def holds(claim: Claim, written: Written, value: Fraction) -> bool:
    """Whether an exact value is what is written, by the claim's relation."""
    match claim.relation:
        case "rounds":
            return abs(value - written.value) <= written.last_digit / 2
        case "truncates":
            return written.value <= value < written.value + (written.last_digit or Fraction(1))
        case "over":
            return value > written.value
        case "under":
            return value < written.value
        case "within":
            return abs(value - written.value) <= _tolerance(claim) * abs(written.value)


def _problem(claim: Claim, written: Written, computed: Quantity) -> str:
    value = Fraction(computed.value)
    as_written = holds(claim, written, value)
    match claim.expect:
        case "holds":
            return "" if as_written else _difference(claim, written, computed)
        case "misprint":
            if as_written:
                return "marked as a misprint, but it holds"
            right = read(claim.should_be, computed.unit)
            fits = abs(value - right.value) <= right.last_digit / 2
            return "" if fits else f"should_be {claim.should_be} does not hold either"
        case "rounded-inputs":
            if as_written:
                return "marked as computed from rounded inputs, but the exact figure gives it too"
            from_inputs = Fraction(evaluate(claim.inputs, _no_address).value)
            fits = holds(claim, written, from_inputs)
            return "" if fits else f"its inputs give {decimal(from_inputs)}, not {claim.value}"


def _difference(claim: Claim, written: Written, computed: Quantity) -> str:
    told = {
        "rounds": "it is", "truncates": "it is", "over": "it is only", "under": "it is as much as",
        "within": f"beyond {claim.tolerance}: it is",
    }[claim.relation]  # fmt: skip
    text = f"{told} {decimal(computed.value)} {computed.unit}".rstrip()
    if computed.unit == "bytes":
        text += f" = {binary(computed.value)}"
        if _is_binary_slip(claim, written, Fraction(computed.value)):
            text += "; the document writes a decimal unit for a binary one"
    return text


def _is_binary_slip(claim: Claim, written: Written, value: Fraction) -> bool:
    """Whether GB stands where GiB would be right."""
    for prefix in "KMGTP":
        slip = claim.value.replace(f"{prefix}B", f"{prefix}iB").replace("kB", "KiB")
        if slip != claim.value:
            return holds(claim, read(slip, "bytes"), value)
    return False


def _tolerance(claim: Claim) -> Fraction:
    if not claim.tolerance or not claim.because:
        raise OptionError("'within' needs a tolerance (as 3%) and because, which says why")
    return read(claim.tolerance, "").value


def _ask(claim: Claim) -> tuple[Model, Question]:
    options = dict(claim.options)
    changes = options.pop("set", [])
    if isinstance(changes, str):
        changes = [changes]
    type_ = options.pop("type", None)
    known = [*(f for f in Question.__struct_fields__ if f != "tokens"), "set", "type"]
    for name in options:
        if name not in known:
            raise OptionError(f"unknown option {name!r}{nearest(name, known)}")
    try:
        question = msgspec.convert(options, Question, strict=False)
    except msgspec.ValidationError as error:
        raise OptionError(f"options: {error}") from None
    return load(claim.model, changes, type_=type_), question


def _figure(name: str, model: Model, question: Question) -> Quantity:
    return ask.report_of(name, model, question).find(name)


def _no_address(name: str) -> Quantity:
    raise WrittenError(f"inputs are numbers; {name!r} is none")
