"""Answers of accounts: figures by attribute, one by one, as a dict, and in print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from txcalc.errors import AddressError
from txcalc.exact.quantity import Number, Quantity, is_estimate
from txcalc.report import address as grammar
from txcalc.report.format import decimal
from txcalc.report.report import Report


class MissingFigureError(AddressError, AttributeError):
    """An attribute that is no figure of an answer."""


class Answer:
    """The figures of an account of one model.

    By attribute (``.total``, ``.block.attention.matmul``): one with figures below it is an Answer
    again, whose own number is ``.value``; any other is the number itself, an int, or a Fraction
    where it is no integer. One by one: an Answer yields pairs of an address and a number. As a
    dict: :meth:`to_dict`, so that ``pandas.Series(answer.to_dict())`` is all of it.
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

    def to_dict(self) -> dict[str, Number]:
        """Every figure at this address and below it, by address, in base units."""
        return dict(iter(self))

    def __iter__(self) -> Iterator[tuple[str, Number]]:
        for name, figure in self._figures().items():
            yield name, figure.value

    if not TYPE_CHECKING:  # what there is stands in the classes below, so that no other name passes

        def __getattr__(self, name: str) -> Any:
            """The number or the figures below.

            Raises:
                MissingFigureError: no such figure.
            """
            if name.startswith("_"):  # as copy, pickle and notebooks ask for
                raise AttributeError(name)
            below = Figures(self.report, f"{self.address}.{name}")
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
        rows = self._rows()
        widths = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
        lines = (
            f"  {name:<{widths[0]}}  {number:>{widths[1]}} {unit}".rstrip()
            for name, number, unit in rows
        )
        return "\n".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks."""
        from html import escape

        rows = (
            f'<tr><td style="text-align: left">{escape(name)}</td><td>{escape(number)}</td>'
            f'<td style="text-align: left">{escape(unit)}</td></tr>'
            for name, number, unit in self._rows()
        )
        return f"<table><caption>{escape(self._title())}</caption>{''.join(rows)}</table>"

    def _title(self) -> str:
        return f"{self.address} of {self.report.model}"

    def _rows(self) -> list[tuple[str, str, str]]:
        """Address, number and unit of what a table shows, or of all where it shows nothing here."""
        figures = self._figures()
        shown = [name for name in map(self.report.short, self.report.shown) if name in figures]
        return [(name, _digits(figures[name]), figures[name].unit) for name in shown or figures]

    def _figures(self) -> dict[str, Quantity]:
        """The figures at this address and below it; of a whole account all of its report."""
        is_all = "." not in self.address
        return {
            self.report.short(name): figure
            for name, figure in self.report.figures.items()
            if is_all or self._has(name) or self._has(self.report.short(name))
        }

    def _has(self, name: str) -> bool:
        return name == self.address or grammar.is_below(name, self.address)

    def _is_above_others(self, address: str) -> bool:
        return any(
            grammar.is_below(name, address)
            for figure in self.report.figures
            for name in (figure, self.report.short(figure))
        )


def _digits(figure: Quantity) -> str:
    text = decimal(figure.value)
    return f"≈ {text}" if not isinstance(figure.value, int) and is_estimate(figure) else text


class Figures(Answer):
    """Figures whose names depend on the model: its blocks, their parts, and their rows."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Params(Answer):
    """Parameters: ``total``, and its parts; ``active`` is what a token uses of it.

    ``buffers`` (persistent tensors that are no parameters) and ``mtp`` (multi-token-prediction
    modules) are outside the total.  The ``whole`` is the ``text`` model with each ``tower`` and
    ``projector`` beside it.
    """

    total: Number
    whole: Number
    text: Number
    tower: Number | Figures
    projector: Number | Figures
    active: Number
    buffers: Number
    mtp: Number | Figures
    blocks: Number
    block: Figures
    embedding: Figures
    final_norm: Number | Figures
    head: Figures
    tensors: Number | Figures


class Flops(Answer):
    """FLOPs of a token or a pass: ``total``, of it all ``blocks``, the ``head`` and the rest.

    What each ``tower`` and ``projector`` runs stands beside the total.
    """

    total: Number
    tower: Number | Figures
    projector: Number | Figures
    blocks: Number
    block: Figures
    embedding: Number | Figures
    head: Figures
    tensors: Number | Figures


class Image(Answer):
    """Images of a sequence: ``patches`` in ``pictures`` that the tower sees, and ``tokens``."""

    patches: Number
    pictures: Number
    tokens: Figures


class Audio(Answer):
    """Sound of a sequence: ``frames`` in ``pieces`` that the tower hears, and ``tokens``."""

    frames: Number
    pieces: Number
    tokens: Figures


class Kvcache(Answer):
    """Bytes of the cache.

    ``token`` is what one token writes in all layers, ``growth`` what one more adds at ctx;
    ``sequence`` is growing, ``fixed`` and ``cross`` parts at ctx; ``total`` is ``batch`` of them.
    """

    token: Number
    growth: Number
    fixed: Number
    cross: Number
    sequence: Number
    total: Number
    block: Figures
    rows: Figures


class Weights(Answer):
    """``bytes`` of the weights, mean ``bits`` of a parameter, and the bytes of each role.

    What stands beside a text model, ``tower`` and ``projector``, is outside of ``bytes``.
    """

    bytes: Number
    bits: Number
    embedding: Number
    attention: Number
    cross_attention: Number
    ssm: Number
    ffn: Number
    experts: Number
    shared: Number
    router: Number
    norms: Number
    tower: Number
    projector: Number
    residual: Number
    tensors: Number
    head: Number
    mtp: Number
    buffers: Number


class Intensity(Answer):
    """FLOPs per byte of weights read in ``prefill`` and ``decode``; ``all``: of all bytes moved."""

    prefill: Number
    decode: Number
    all: Figures


class Concurrency(Answer):
    """``ratio`` of the weights to one sequence's cache; from ``crossover`` on caches outweigh."""

    ratio: Number
    crossover: Number


class Generation(Answer):
    """Naive against cached generation, in ``tokens`` computed and in ``flops``.

    ``after`` has running totals, ``with_prefill`` counts the prompt on the cached side too.
    """

    tokens: Figures
    flops: Figures
    with_prefill: Figures
    after: Figures


class Memory(Answer):
    """Bytes of one ``gpu`` of the tightest stage, of each of the ``stages``, and in ``total``."""

    gpu: Figures
    total: Figures
    stages: Figures


class Train(Answer):
    """``flops`` of a step, a token and a run; with GPUs ``days``, ``gpu_hours``, ``mfu``, ``hfu``.

    ``throughput`` is in tokens a second and GPU.
    """

    flops: Figures
    tokens: Number
    throughput: Number
    days: Number
    gpu_hours: Number
    mfu: Number
    hfu: Number


class Trainmem(Answer):
    """Bytes of ``activations`` that a backward pass needs."""

    activations: Figures


class Fit(Answer):
    """What fits on GPUs.

    ``sequences`` of ctx, ``tokens`` in all, and the longest ``context`` of the requests, in the
    ``budget`` that ``loaded`` weights and ``overhead`` leave of what is ``available`` of the
    ``memory``; ``needed``, ``missing``, and those of one ``sequence`` or ``token`` are bytes.
    """

    memory: Number
    available: Number
    loaded: Number
    overhead: Number
    budget: Number
    needed: Number
    missing: Number
    sequence: Number
    token: Number
    sequences: Number
    tokens: Number
    context: Number
    engine: Figures


class Verify(Answer):
    """Tensors of a checkpoint: how many hold rows, and how many differ.

    ``elements`` by what they are and ``bytes`` by type; ``missing``, ``extra``, of ``other_shape``
    or ``other_dtype`` are differences; ``buffers``, a ``tied_stored`` head, ``scales`` of
    quantisation and what the description leaves ``uncovered`` are none.
    """

    tensors: Number
    elements: Figures
    bytes: Figures
    missing: Number
    extra: Number
    other_shape: Number
    other_dtype: Number
    buffers: Number
    tied_stored: Number
    scales: Number
    uncovered: Number


class Regimes(Answer):
    """Contexts from which score products, one cache, or the batch's caches reach the weights."""

    scores_reach_ffn: Number
    scores_reach_weights: Number
    cache_reaches_weights: Number
    caches_reach_weights: Number


class Roofline(Answer):
    """Time at best on a device whose ``ridge`` is in FLOPs per byte.

    ``prefill`` and ``decode`` have ``flops``, ``bytes``, ``intensity``, ``time`` and ``floor``, in
    all and by component; ``communication`` and ``time_with_communication``; ``first_token``,
    ``tokens_per_s`` and ``price``; and the turning points ``critical_batch``,
    ``critical_batch_all`` and ``cache_context``.
    """

    ridge: Number
    prefill: Figures
    decode: Figures
