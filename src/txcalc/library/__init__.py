"""The library's face: load a model, ask for figures, or for a function of letters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from txcalc.accounts import registry
from txcalc.accounts.options import question_for
from txcalc.errors import OptionError, nearest
from txcalc.exact.quantity import Number
from txcalc.library.answer import (
    Answer,
    Audio,
    Concurrency,
    Fit,
    Flops,
    Generation,
    Image,
    Intensity,
    Kvcache,
    Memory,
    Params,
    Regimes,
    Roofline,
    Train,
    Trainmem,
    Verify,
    Weights,
)
from txcalc.library.options import (
    AudioOptions,
    ConcurrencyOptions,
    FitOptions,
    FlopsOptions,
    GenerationOptions,
    ImageOptions,
    IntensityOptions,
    KvcacheOptions,
    MemoryOptions,
    Options,
    RegimesOptions,
    RooflineOptions,
    Size,
    TrainmemOptions,
    TrainOptions,
    VerifyOptions,
    WeightsOptions,
    documented,
)
from txcalc.model.model import Model
from txcalc.report.report import Report
from txcalc.sources import bundled
from txcalc.sources import loading as sources
from txcalc.sources.given import with_files
from txcalc.workload.question import LETTERS, Question, positive

if TYPE_CHECKING:
    from txcalc.report.explain import Explanation

__all__ = [
    "Answer", "audio", "concurrency", "explain", "fit", "flops", "function", "generation", "get",
    "image", "intensity", "kvcache", "load", "memory", "models", "params", "regimes", "roofline",
    "sweep", "train", "trainmem", "verify", "weights",
]  # fmt: skip

A = TypeVar("A", bound=Answer)
Named = Model | str | os.PathLike[str]
"""A model, or its name as :func:`load` takes it."""


def models(*having: str) -> list[str]:
    """The names of the bundled models: with one of some texts in them, or a kind of part.

    ``models("70b")``, ``models("mla", "kda")``; without a text all of them.
    """
    _texts("a part of a name", *having)
    return bundled.having(having)


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
    _texts("a type", type_ or "")
    return sources.load(_name(name), _changes(changes), type_=type_, strict=strict)


@documented(Options.__annotations__)
def get(model: Named, address: str, **options: Unpack[Options]) -> Number:
    """One number by its address, or by arithmetic over addresses.

    Here and below a model may also be given by its name, as :func:`load` takes it, and options as
    on the command line (``ctx=2048``, ``kv="fp8"``).

    Raises:
        AddressError: no such figure, or more than one.
        OptionError: an option that is not known or cannot be used.
        RefusedError: a figure that the model cannot have.
    """
    return _report(model, address, options).find(address).value


@documented(Options.__annotations__)
def explain(
    model: Named, address: str, *, depth: int | None = None, **options: Unpack[Options]
) -> Explanation:
    """How a figure came to be: its formula, the steps below it, and what the letters mean.

    ``depth`` says how many levels of addresses there are; by default as a line allows.

    Raises:
        TxcalcError: what :func:`get` refuses.
    """
    from txcalc.report.explain import explain as explained

    return explained(_report(model, address, options), address, depth)


@documented(Options.__annotations__)
def function(
    model: Named, address: str, *letters: str, **options: Unpack[Options]
) -> Callable[..., Number]:
    """The same derivation as a function of letters (``ctx``, ``batch``, ...), by position or name.

    Constant in letters that the figure does not use.

    Raises:
        AddressError: no such figure, or more than one.
        OptionError: a name that is no letter of a question; and by the function itself, a letter
            that is missing, given twice or unknown, or that is no whole number from 1 to 10^15.
    """
    from txcalc.exact.emit import compiled
    from txcalc.exact.printing import symbolic

    _texts("a letter", *letters)
    for letter in letters:
        if letter not in LETTERS:
            raise OptionError(f"no letter {letter!r}{nearest(letter, list(LETTERS))}")
        if letters.count(letter) + (letter in options) > 1:
            raise OptionError(f"the letter {letter!r} is given twice")
    given = {**options, **{letter: getattr(Question(), letter) or 1 for letter in letters}}
    figure = _report(model, address, given).find(address)
    inner = compiled(figure, letters)

    def of_letters(*values: int, **named: int) -> Number:
        point = dict(zip(letters, values, strict=False)) | named
        if len(values) + len(named) != len(letters) or set(point) != set(letters):
            raise OptionError(f"one number each is needed of {', '.join(letters) or 'nothing'}")
        return inner(*(positive(letter, point[letter]).value for letter in letters))

    of_letters.__doc__ = f"Of {', '.join(letters)}: {symbolic(figure)}"
    return of_letters


@documented(Options.__annotations__)
def sweep(
    model: str | os.PathLike[str] | None,
    addresses: str | Sequence[str],
    over: Mapping[str, str | Iterable[Size]],
    changes: Sequence[str] = (),
    *,
    type_: str | None = None,
    strict: bool = False,
    **options: Unpack[Options],
) -> list[dict[str, Number | str]]:
    """Figures over ranges: a dict for each point, of the axes' values and the figures.

    ``over`` has values by name (letters, dimensions, ``model``): lists, ranges, or texts as
    ``--over`` takes them (``"512:4Ki:x2"``); the last varies fastest.  With models among them
    ``model`` may be None.  The rest is as :func:`load` and :func:`get` have it.

    Raises:
        TxcalcError: whatever a point would be refused for.
    """
    from txcalc.sweeps.axes import axes_of
    from txcalc.sweeps.sweep import Sweep

    texts = [addresses] if isinstance(addresses, str) else addresses
    _texts("an address", *texts)
    name = "" if model is None else _name(model)
    swept = Sweep(
        name, texts, axes_of(over), with_files(options), _changes(changes),
        type_=type_, strict=strict, prefix="",
    )  # fmt: skip
    return list(swept.values())


def params(model: Named) -> Params:
    """Parameters by component, and in total."""
    return _answer("params", Params, model, {})


@documented(FlopsOptions.__annotations__)
def flops(model: Named, **options: Unpack[FlopsOptions]) -> Flops:
    """FLOPs of a token or a pass."""
    return _answer("flops", Flops, model, options)


@documented(KvcacheOptions.__annotations__)
def kvcache(model: Named, **options: Unpack[KvcacheOptions]) -> Kvcache:
    """Bytes of KV cache."""
    return _answer("kvcache", Kvcache, model, options)


@documented(WeightsOptions.__annotations__)
def weights(model: Named, **options: Unpack[WeightsOptions]) -> Weights:
    """Bytes of the weights."""
    return _answer("weights", Weights, model, options)


@documented(IntensityOptions.__annotations__)
def intensity(model: Named, **options: Unpack[IntensityOptions]) -> Intensity:
    """FLOPs per byte moved."""
    return _answer("intensity", Intensity, model, options)


@documented(ConcurrencyOptions.__annotations__)
def concurrency(model: Named, **options: Unpack[ConcurrencyOptions]) -> Concurrency:
    """Caches against weights."""
    return _answer("concurrency", Concurrency, model, options)


@documented(GenerationOptions.__annotations__)
def generation(model: Named, **options: Unpack[GenerationOptions]) -> Generation:
    """Naive against cached generation."""
    return _answer("generation", Generation, model, options)


@documented(ImageOptions.__annotations__)
def image(model: Named, **options: Unpack[ImageOptions]) -> Image:
    """What becomes of images: patches, and tokens of the text model."""
    return _answer("image", Image, model, options)


@documented(AudioOptions.__annotations__)
def audio(model: Named, **options: Unpack[AudioOptions]) -> Audio:
    """What becomes of sound: frames, and tokens of the text model."""
    return _answer("audio", Audio, model, options)


@documented(MemoryOptions.__annotations__)
def memory(model: Named, **options: Unpack[MemoryOptions]) -> Memory:
    """Memory of each GPU of a layout, and of all."""
    return _answer("memory", Memory, model, options)


@documented(FitOptions.__annotations__)
def fit(model: Named, **options: Unpack[FitOptions]) -> Fit:
    """Whether a model fits on GPUs, with what requests."""
    return _answer("fit", Fit, model, options)


@documented(TrainOptions.__annotations__)
def train(model: Named, **options: Unpack[TrainOptions]) -> Train:
    """What a training run computes, and how long it takes."""
    return _answer("train", Train, model, options)


@documented(TrainmemOptions.__annotations__)
def trainmem(model: Named, **options: Unpack[TrainmemOptions]) -> Trainmem:
    """What training keeps for its backward pass."""
    return _answer("trainmem", Trainmem, model, options)


@documented(VerifyOptions.__annotations__)
def verify(model: Named, **options: Unpack[VerifyOptions]) -> Verify:
    """Whether a checkpoint holds a model; its ``report`` lists each difference."""
    return _answer("verify", Verify, model, options)


@documented(RegimesOptions.__annotations__)
def regimes(model: Named, **options: Unpack[RegimesOptions]) -> Regimes:
    """From which context on scores and caches dominate."""
    return _answer("regimes", Regimes, model, options)


@documented(RooflineOptions.__annotations__)
def roofline(model: Named, **options: Unpack[RooflineOptions]) -> Roofline:
    """Time at best on a device."""
    return _answer("roofline", Roofline, model, options)


def _answer(account: str, kind: type[A], model: Named, options: Mapping[str, Any]) -> A:
    question = question_for(with_files(options), [account], prefix="")
    return kind(registry.account(account, _loaded(model), question), account)


def _report(model: Named, address: str, options: Mapping[str, Any]) -> Report:
    _texts("an address", address)
    question = question_for(with_files(options), [address], prefix="")
    return registry.report_of(address, _loaded(model), question)


def _loaded(model: Named) -> Model:
    return model if isinstance(model, Model) else load(model)


def _name(model: object) -> str:
    if isinstance(model, Model):
        raise OptionError(f"a name or a path is needed here, not the loaded {model.name}")
    name = os.fspath(model) if isinstance(model, os.PathLike) else model
    _texts("a model", name)
    return str(name)


def _changes(changes: Sequence[str]) -> Sequence[str]:
    if isinstance(changes, str) or not isinstance(changes, Sequence):
        raise OptionError(f"changes are a list of NAME=V, not {changes!r}")
    _texts("a change", *changes)
    return changes


def _texts(what: str, *values: object) -> None:
    for value in values:
        if not isinstance(value, str):
            raise OptionError(f"{what} is a text, not {value!r}")
