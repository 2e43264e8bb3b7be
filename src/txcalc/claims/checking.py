"""Claims computed and compared."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from txcalc.accounts import registry
from txcalc.accounts.options import question, typed
from txcalc.claims.claim import Claim, Formula, Place, Verdict, unreadable
from txcalc.claims.written import Written, WrittenError, in_percent, read_number, towards_zero
from txcalc.errors import OptionError, TxcalcError
from txcalc.exact.quantity import Quantity
from txcalc.model.model import Model
from txcalc.report.explain import top
from txcalc.report.expression import evaluate
from txcalc.report.format import binary, decimal
from txcalc.report.report import Report
from txcalc.sources import bundled
from txcalc.sources.devices import device_names
from txcalc.sources.given import with_files
from txcalc.sources.hub import PREFIX
from txcalc.sources.loading import load
from txcalc.workload.question import Question

MOST_KEPT = 32
"""Models, and questions to them, whose answers are kept."""
_BESIDE = ("set", "type")
"""Options about the model, not the question."""


class _Answers:
    """The figures of one model to one question, each account asked once."""

    def __init__(self, model: Model, question: Question) -> None:
        self._model, self._question = model, question
        self._reports: dict[str, Report] = {}
        self._formulas: dict[str, Formula] = {}

    def figure(self, address: str) -> Quantity:
        """The quantity at an address."""
        return self._report(address).find(address)

    def formula(self, address: str) -> Formula:
        """How it came to be, as far as it fits a line."""
        if address not in self._formulas:
            self._formulas[address] = Formula(address, *top(self._report(address), address))
        return self._formulas[address]

    def _report(self, address: str) -> Report:
        account = registry.account_of(address)
        if account not in self._reports:
            self._reports[account] = registry.account(account, self._model, self._question)
        return self._reports[account]


AnswersOf = Callable[[str, tuple[str, ...], str | None, Question], _Answers]
"""What a model of a name or a path, with changes and a type, answers to a question."""


def answers_by_name() -> AnswersOf:
    """Loads models and asks them, each once; for as long as no file changes."""

    @lru_cache(maxsize=MOST_KEPT)
    def attempt(name: str, changes: tuple[str, ...], type_: str | None) -> Model | TxcalcError:
        try:
            return load(name, changes, type_=type_)
        except TxcalcError as error:
            return error

    kept: dict[tuple[object, ...], _Answers] = {}

    def answers_of(
        name: str, changes: tuple[str, ...], type_: str | None, question: Question
    ) -> _Answers:
        model = attempt(name, changes, type_)
        if isinstance(model, TxcalcError):
            raise model.with_traceback(None)
        key = (name, changes, type_, repr(question))
        if key not in kept:
            if len(kept) == MOST_KEPT:
                kept.clear()
            kept[key] = _Answers(model, question)
        return kept[key]

    return answers_of


def check(claim: Claim, place: Place, answers_of: AnswersOf) -> Verdict:
    """Computes a claim and compares."""
    try:
        _refuse_inconsistent(claim)
        asked = _Asked(claim, os.path.dirname(place.file), answers_of)
        computed = evaluate(claim.claim, asked.figure)
        asked.refuse_unread()
        written = read_number(claim.value, computed.unit)
        problem = _problem(claim, written, computed)
        formulas = asked.formulas() if problem else []
    except TxcalcError as error:
        return unreadable(place, str(error), claim)
    return Verdict(
        claim=claim, place=place, computed=computed, written=written, problem=problem,
        formulas=formulas,
    )  # fmt: skip


def holds(claim: Claim, written: Written, value: Fraction) -> bool:
    """Whether an exact value is what is written, by the claim's relation."""
    match claim.relation:
        case "rounds":
            return abs(value - written.value) <= written.last_digit / 2
        case "truncates":
            last = written.last_digit
            return written.value == (towards_zero(value / last) * last if last else value)
        case "over":
            return value > written.value
        case "under":
            return value < written.value
        case "within":
            return abs(value - written.value) <= _tolerance(claim) * abs(written.value)


class _Asked:
    """The figures that a claim is about."""

    def __init__(self, claim: Claim, folder: str, answers_of: AnswersOf) -> None:
        changes, type_, question, self._given = _options(claim, folder)
        self._answers = answers_of(_path_of(claim.model, folder), changes, type_, question)
        self._addresses: dict[str, None] = {}

    def figure(self, address: str) -> Quantity:
        """The quantity at an address."""
        figure = self._answers.figure(address)
        self._addresses[address] = None
        return figure

    def refuse_unread(self) -> None:
        """Refuses options that no account of the claim reads."""
        registry.refuse_unread(self._given, self._addresses, "")

    def formulas(self) -> list[Formula]:
        """How each of them came to be."""
        return [self._answers.formula(address) for address in self._addresses]


def _problem(claim: Claim, written: Written, computed: Quantity) -> str:
    value = Fraction(computed.value)
    as_written = holds(claim, written, value)
    match claim.expect:
        case "holds":
            return "" if as_written else _difference(claim, written, computed)
        case "misprint":
            if as_written:
                return "marked as a misprint, but it holds"
            right = read_number(claim.should_be, computed.unit)
            fits = abs(value - right.value) <= right.last_digit / 2
            return "" if fits else f"{_difference(claim, written, computed)}, not {right.text}"
        case "rounded-inputs":
            if as_written:
                return "marked as computed from rounded inputs, but the exact figure gives it too"
            from_inputs = Fraction(evaluate(claim.inputs, _no_address).value)
            fits = holds(claim, written, from_inputs)
            return "" if fits else f"its inputs give {decimal(from_inputs)}, not {claim.value}"


def _difference(claim: Claim, written: Written, computed: Quantity) -> str:
    reads = {
        "rounds": "it is", "truncates": "it is", "over": "it is only", "under": "it is as much as",
        "within": f"beyond {claim.tolerance}: it is",
    }[claim.relation]  # fmt: skip
    shown = in_percent(written, computed.value) or decimal(computed.value, places=12)
    text = f"{reads} {shown} {computed.unit}".rstrip()
    if computed.unit == "bytes" and computed.value >= 1024:
        text += f" = {binary(computed.value)}"
    return text + _slip(claim, computed)


def _slip(claim: Claim, computed: Quantity) -> str:
    """What a wrong unit would explain: GB for GiB, or B for a billion of bytes."""
    if computed.unit != "bytes" or claim.relation != "rounds":
        return ""
    value = Fraction(computed.value)
    for decimal_unit, binary_unit in (("kB", "KiB"), *((f"{p}B", f"{p}iB") for p in "KMGTPE")):
        if decimal_unit in claim.value:
            meant = read_number(claim.value.replace(decimal_unit, binary_unit), "bytes")
            if holds(claim, meant, value):
                return f"; {decimal_unit} is written where {binary_unit} is meant"
        if binary_unit in claim.value:
            meant = read_number(claim.value.replace(binary_unit, decimal_unit), "bytes")
            if holds(claim, meant, value):
                return f"; {binary_unit} is written where {decimal_unit} is meant"
    in_billions = re.fullmatch(r"(.*[0-9]\s?)B", claim.value)
    if in_billions and holds(claim, read_number(f"{in_billions[1]}GB", "bytes"), value):
        return "; B means bytes here, not a billion"
    return ""


def _tolerance(claim: Claim) -> Fraction:
    tolerance = read_number(claim.tolerance, "").value
    if not 0 < tolerance < 1:
        raise OptionError(f"a tolerance is a share of the number, as 3%, not {claim.tolerance!r}")
    return tolerance


def _refuse_inconsistent(claim: Claim) -> None:
    """Refuses fields that are missing for a relation or an expectation, or that nothing reads."""
    fields = (
        ("tolerance", claim.tolerance, "relation", "within"),
        ("because", claim.because, "relation", "within"),
        ("should_be", claim.should_be, "expect", "misprint"),
        ("inputs", claim.inputs, "expect", "rounded-inputs"),
    )
    for name, given, owner, value in fields:
        owned = getattr(claim, owner) == value
        if owned and not given:
            raise OptionError(f"{owner}: {value} needs {name}")
        if given and not owned:
            raise OptionError(f"{name} means nothing where {owner} is {getattr(claim, owner)}")


def _options(
    claim: Claim, folder: str
) -> tuple[tuple[str, ...], str | None, Question, Sequence[str]]:
    """The changes to the model, its type, the question, and the names of the question's options."""
    options = dict(claim.options)
    changes = options.pop("set", [])
    changes = [changes] if isinstance(changes, str) else changes
    type_ = options.pop("type", None)
    if not isinstance(changes, list) or not all(isinstance(change, str) for change in changes):
        raise OptionError("options: set is NAME=V or a list of such")
    if not isinstance(type_, str | None):
        raise OptionError("options: type is a word")
    options = {name: typed(value) for name, value in options.items()}
    device = options.get("device")
    if isinstance(device, str) and device.lower() not in device_names():
        options["device"] = _file_of(device, folder)
    if isinstance(checkpoint := options.get("checkpoint"), str):
        options["checkpoint"] = _path_of(checkpoint, folder)
    return tuple(changes), type_, question(with_files(options), _BESIDE), list(options)


def _path_of(name: str, folder: str) -> str:
    """A model's name, or its path as seen from the folder of the document."""
    if name == "-":
        raise OptionError("a page cannot read a model from standard input")
    if name.startswith(PREFIX):
        raise OptionError(f"{name}: nothing is fetched for a page: save the file and name that")
    if not name or name in bundled.names():
        return name
    return _file_of(name, folder)


def _file_of(name: str, folder: str) -> str:
    """A file that a page names, as seen from its folder; nothing that would be waited for."""
    beside = os.path.join(folder, name)
    path = beside if os.path.exists(beside) else name
    for file in (path, os.path.join(path, "config.json")):
        if _might_wait(file):
            raise OptionError(f"{name}: empty, or no regular file, so it is not read for a page")
    return path


def _might_wait(file: str) -> bool:
    """Whether a file is none that ends: a pipe, a device, or one that a kernel makes up."""
    if not os.path.exists(file) or os.path.isdir(file):
        return False
    return not os.path.isfile(file) or not os.path.getsize(file)


def _no_address(name: str) -> Quantity:
    raise WrittenError(f"inputs are numbers; {name!r} is none")
