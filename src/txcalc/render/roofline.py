"""The sheets of a roofline: each pass by component, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from txcalc.exact.quantity import Quantity
from txcalc.render.figures import pictures
from txcalc.render.labels import notes
from txcalc.render.sheet import Column, Sheet
from txcalc.report import address as grammar
from txcalc.report.format import cell, decimal, percent, scaled
from txcalc.report.report import Report

_SHORT = {"bytes": "B", "seconds": "s"}
_EXCHANGES = {
    "all_reduce": "all-reduce",
    "experts": "to experts and back",
    "logits": "logits gathered",
    "stages": "to the next stage",
}
_ANSWERS = {
    "roofline.decode.time_with_communication": "time per output token",
    "roofline.decode.floor": "  floor, all of it overlapped",
    "roofline.decode.tokens_per_s": "tokens/s of a sequence",
    "roofline.decode.tokens_per_s.all": "tokens/s in all",
    "roofline.prefill.first_token": "time to first token",
    "roofline.decode.price": "USD for a million tokens out",
    "roofline.prefill.price": "USD for a million tokens in",
    "roofline.ridge": "ridge, in FLOPs/byte",
    "roofline.decode.critical_batch": "weights are compute-bound from batch",
    "roofline.decode.critical_batch_all": "the whole step from batch",
    "roofline.decode.cache_context": "the batch's caches reach the weights at ctx",
}
"""What the rows of the last sheet are called, in their order."""


class _Line(NamedTuple):
    """A row of a pass: a component, the step, or what GPUs send each other in it."""

    label: str
    flops: Quantity | None = None
    bytes: Quantity | None = None
    intensity: Quantity | None = None
    bound: str = ""
    time: Quantity | None = None
    share: str = ""


def roofline(report: Report) -> list[Sheet]:
    """Decode, prefill, and the answers; notes and bars stand below the last."""
    phases = [f"roofline.{phase}" for phase in ("decode", "prefill")]
    passes = [_pass(report, at) for at in phases if f"{at}.time" in report.figures]
    return [*passes, _answers(report)]


def _pass(report: Report, at: str) -> Sheet:
    """One row a component, the sum of them, and what is sent between GPUs."""
    lines = [*_components(report, at), *_sent(report, at)]
    columns = {
        "": [line.label for line in lines],
        **_in_one_unit([line.flops for line in lines]),
        **_in_one_unit([line.bytes for line in lines]),
        "FLOPs/byte": [_per_byte(line.intensity) for line in lines],
        "bound by": [line.bound for line in lines],
        **_in_one_unit([line.time for line in lines]),
        "share": [line.share for line in lines],
    }
    kinds: dict[str, Literal["text", "word"]] = {"": "text", "bound by": "word"}
    return Sheet(
        title=f"{report.model}: {grammar.below(at, 'roofline')}",
        columns=[Column(heading, kinds.get(heading, "number")) for heading in columns],
        rows=list(map(list, zip(*columns.values(), strict=True))),
    )


def _components(report: Report, at: str) -> Iterator[_Line]:
    """A line each, and one of all."""
    for address in report.shares:
        if grammar.is_below(address, at):
            component = grammar.parent(address)
            yield _line(report, component, _label(report, component, at))
    yield _line(report, at, "step")


def _line(report: Report, component: str, label: str) -> _Line:
    parts = ("flops", "bytes", "intensity")
    flops, bytes_, intensity = (report.figures.get(f"{component}.{part}") for part in parts)
    time = f"{component}.time"
    share = percent(report.shares[time]) if time in report.shares else ""
    return _Line(label, flops, bytes_, intensity, report.notes[time], report.figures[time], share)


def _label(report: Report, component: str, at: str) -> str:
    """A component without what all of them have in front."""
    words = grammar.below(report.short(component), at)
    words = grammar.below(words, "block").replace(".", " ")
    return f"{words} and cache" if words.endswith("scores") and at.endswith("decode") else words


def _sent(report: Report, at: str) -> Iterator[_Line]:
    """What GPUs send each other, and the step with it."""
    figures, total = report.figures, f"{at}.communication"
    if not figures[total].value:
        return
    for name, words in _EXCHANGES.items():
        sent = figures[f"{total}.{name}"]
        if sent.value:
            label = f"+ {words} x {figures[f'{total}.{name}.count'].value:,}"
            yield _Line(label, bytes=sent, bound="link")
    yield _Line("sent", bound="link", time=figures[total])
    yield _Line("in all", time=figures[f"{at}.time_with_communication"])


def _in_one_unit(quantities: Sequence[Quantity | None]) -> dict[str, list[str]]:
    """A column in one unit, which its heading says."""
    known = [quantity for quantity in quantities if quantity is not None]
    prefix, shown = scaled([quantity.value for quantity in known])
    cells = iter(shown)
    heading = f"{prefix}{_SHORT.get(known[0].unit, known[0].unit)}"
    return {heading: ["" if quantity is None else next(cells) for quantity in quantities]}


def _per_byte(intensity: Quantity | None) -> str:
    return "" if intensity is None else decimal(Fraction(intensity.value), 1)


def _answers(report: Report) -> Sheet:
    """One row an answer; where no number is one, ``never`` and the reason."""
    rows = []
    for address, label in _ANSWERS.items():
        if address in report.figures:
            rows.append([label, cell(report.figures[address])])
        elif address in report.refused:
            rows.append([label, report.refused[address]])
    return Sheet(
        title=f"{report.model}: {report.title}",
        columns=[Column("", "text"), Column(report.model, "text")],
        rows=rows,
        notes=notes([report]),
        bars=pictures(report),
    )
