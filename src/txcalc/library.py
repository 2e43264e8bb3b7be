"""The library's face: load a model, ask for figures, or for a function of letters."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from txcalc.accounts import registry
from txcalc.accounts.options import question_for
from txcalc.errors import AddressError, OptionError, nearest
from txcalc.exact.emit import compiled
from txcalc.exact.printing import symbolic
from txcalc.exact.quantity import Number
from txcalc.model.model import Model
from txcalc.report import address as grammar
from txcalc.report.report import Report
from txcalc.sources import loading as sources
from txcalc.sources.devices import with_device
from txcalc.workload.question import LETTERS, Question, positive

__all__ = [
    "Answer", "concurrency", "flops", "function", "generation", "get", "intensity", "kvcache",
    "load", "params", "weights",
]  # fmt: skip


class MissingFigureError(AddressError, AttributeError):
    """An attribute that is no figure of an answer."""


class Answer:
    """The figures of an account by attribute: ``.total``, ``.block.attention.matmul``.

    An attribute with figures below it is an Answer again, whose own number is ``.value``; any
    other is the number itself: an int, or a Fraction where it is no integer.
    """

    def __init__(self, report: Report, address: str) -> None:
        self.report = report
        self.address = address

    @property
    def value(self) -> Number:
        """The number at this address, in the base unit of :attr:`unit`."""
        return self.report.find(self.address).value

    @property
    def unit(self) -> str:
        """What the number counts: parameters, FLOPs, bytes, tokens, or "" for a ratio."""
        return self.report.find(self.address).unit

    def __getattr__(self, name: str) -> Any:
        """The number or the figures below.

        Raises:
            MissingFigureError: no such figure.
        """
        if name.startswith("__"):  # as copy and pickle ask for, before there is a report
            raise AttributeError(name)
        below = Answer(self.report, f"{self.address}.{name}")
        if self._is_above_others(below.address):
            return below
        try:
            return below.value
        except AddressError as error:
            raise MissingFigureError(str(error)) from None

    def __dir__(self) -> list[str]:
        names = map(self.report.short, self.report.figures)
        below = (name for name in names if grammar.is_below(name, self.address))
        words = {grammar.next_word(name, self.address) for name in below}
        return sorted({*super().__dir__(), *words})

    def __repr__(self) -> str:
        return f"<{self.address} of {self.report.model}>"

    def _is_above_others(self, address: str) -> bool:
        return any(
            grammar.is_below(name, address)
            for figure in self.report.figures
            for name in (figure, self.report.short(figure))
        )


def load(
    name: str | os.PathLike[str],
    changes: Sequence[str] = (),
    *,
    type_: str | None = None,
    strict: bool = False,
) -> Model:
    """A model by bundled name, by the path of a YAML description or a config.json, or from the Hub.

    ``changes`` are ``NAME=V`` or ``PATH=V`` as ``--set`` takes them; ``type_`` is the model_type of
    a config.json that names none; ``strict`` makes keys of it that nothing reads an error.

    Raises:
        TxcalcError: a model that is unknown, unreadable, contradictory or not modelled.
    """
    if isinstance(name, os.PathLike):
        name = os.fspath(name)
    if isinstance(changes, str) or not isinstance(changes, Sequence):
        raise OptionError(f"changes are a list of NAME=V, not {changes!r}")
    _texts("a model", name)
    _texts("a type", type_ or "")
    _texts("a change", *changes)
    return sources.load(name, changes, type_=type_, strict=strict)


def get(model: Model | str, address: str, **options: Any) -> Number:
    """One number by its address; options as on the command line (``ctx=2048``, ``kv="fp8"``).

    Here and below a model may also be given by its name, as :func:`load` takes it.

    Raises:
        AddressError: no such figure, or more than one.
        OptionError: an option that is not known or cannot be used.
        RefusedError: a figure that the model cannot have.
    """
    _texts("an address", address)
    question = question_for(with_device(options), [address], sign="")
    return registry.report_of(address, _loaded(model), question).find(address).value


def function(
    model: Model | str, address: str, *letters: str, **options: Any
) -> Callable[..., Number]:
    """The same derivation as a function of letters (``ctx``, ``batch``, ...), by position or name.

    Constant in letters that the figure does not use.

    Raises:
        AddressError: no such figure, or more than one.
        OptionError: a name that is no letter of a question; and by the function itself, a letter
            that is missing, given twice or unknown, or that is no whole number from 1 to 10^15.
    """
    _texts("an address", address)
    _texts("a letter", *letters)
    for letter in letters:
        if letter not in LETTERS:
            raise OptionError(f"no letter {letter!r}{nearest(letter, list(LETTERS))}")
        if letters.count(letter) + (letter in options) > 1:
            raise OptionError(f"the letter {letter!r} is given twice")
    given = options | {letter: getattr(Question(), letter) or 1 for letter in letters}
    question = question_for(with_device(given), [address], sign="")
    figure = registry.report_of(address, _loaded(model), question).find(address)
    inner = compiled(figure, letters)

    def of_letters(*values: int, **named: int) -> Number:
        point = dict(zip(letters, values, strict=False)) | named
        if len(values) + len(named) != len(letters) or set(point) != set(letters):
            raise OptionError(f"one number each is needed of {', '.join(letters) or 'nothing'}")
        return inner(*(positive(letter, point[letter]).value for letter in letters))

    of_letters.__doc__ = f"Of {', '.join(letters)}: {symbolic(figure)}"
    return of_letters


def params(model: Model | str) -> Answer:
    """Parameters: :func:`txcalc.accounts.params.account`."""
    return _answer("params", model, {})


def flops(model: Model | str, **options: Any) -> Answer:
    """FLOPs of a token or a pass: :func:`txcalc.accounts.flops.account`."""
    return _answer("flops", model, options)


def kvcache(model: Model | str, **options: Any) -> Answer:
    """Bytes of KV cache: :func:`txcalc.accounts.kvcache.account`."""
    return _answer("kvcache", model, options)


def weights(model: Model | str, **options: Any) -> Answer:
    """Bytes of the weights: :func:`txcalc.accounts.weights.account`."""
    return _answer("weights", model, options)


def intensity(model: Model | str, **options: Any) -> Answer:
    """FLOPs per byte moved: :func:`txcalc.accounts.intensity.account`."""
    return _answer("intensity", model, options)


def concurrency(model: Model | str, **options: Any) -> Answer:
    """Caches against weights: :func:`txcalc.accounts.concurrency.account`."""
    return _answer("concurrency", model, options)


def generation(model: Model | str, **options: Any) -> Answer:
    """Naive against cached generation: :func:`txcalc.accounts.generation.account`."""
    return _answer("generation", model, options)


def _answer(account: str, model: Model | str, options: dict[str, Any]) -> Answer:
    question = question_for(with_device(options), [account], sign="")
    return Answer(registry.account(account, _loaded(model), question), account)


def _loaded(model: Model | str) -> Model:
    return model if isinstance(model, Model) else load(model)


def _texts(what: str, *values: object) -> None:
    for value in values:
        if not isinstance(value, str):
            raise OptionError(f"{what} is a text, not {value!r}")
