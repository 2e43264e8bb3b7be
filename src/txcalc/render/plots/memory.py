"""``plot memory``: the weights once, and caches of more and more sequences on top of them."""

from __future__ import annotations

from txcalc.render.plots.picture import Area, Curves, Mark, Picture, Point
from txcalc.render.plots.ticks import axis
from txcalc.report.format import binary, plain
from txcalc.report.report import Report
from txcalc.workload.device import Device

LEAST = 8
"""Sequences that a picture shows at least."""


def memory(report: Report, device: Device | None) -> Picture:
    """Weights and caches up to twice the crossover, or to what a device holds if that is more.

    ``report`` is that of concurrency.
    """
    held, each, crossover = (
        report.figures[name].value
        for name in ("weights.bytes", "kvcache.sequence", "concurrency.crossover")
    )
    limit = None if device is None else device.memory
    room = 0 if limit is None else max(0, int((limit - held) // each))
    most = max(LEAST, 2 * int(crossover), room + room // 4)
    weights: list[Point] = [(0.0, float(held)), (float(most), float(held))]
    caches: list[Point] = [(0.0, float(held)), (float(most), float(held + most * each))]
    ground: list[Point] = [(0.0, 0.0), (float(most), 0.0)]
    marks = [Mark(label=f"{crossover:,}", x=float(crossover))]
    top = float(held + most * each)
    if device is not None and limit is not None:
        marks.append(Mark(label=f"{device.name}: {binary(limit)}", y=float(limit)))
        top = max(top, float(limit))
    assumed = [line for line in report.assumptions if not line.startswith("positions")]
    return Picture(
        title=f"Memory of {report.model}",
        subtitle=f"caches outweigh the weights from {crossover:,} on; {'; '.join(assumed)}",
        drawn=Curves(
            x=axis([0.0, float(most)], "", "linear", "sequences"),
            y=axis([0.0, top], "bytes", "linear"),
            areas=[
                Area(lower=ground, upper=weights, tone="attention", label="weights"),
                Area(lower=weights, upper=caches, tone="mark", label="caches"),
            ],
            marks=marks,
        ),
        told="".join(
            f"{name},{plain(report.figures[name].value)}\n" for name in report.shown
        ),
    )  # fmt: skip
