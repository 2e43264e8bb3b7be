"""Devices as a table, or as JSON in their files' own units."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from txcalc.render.sheet import Column, Sheet
from txcalc.render.table import capture, drawn
from txcalc.report.format import decimal
from txcalc.workload.device import Device

_COLUMNS = ("memory GiB", "GB/s", "dense TFLOP/s", "links GB/s")
_NOTES = [
    "memory as a program sees it, or (n) the vendor's nominal size; GiB = 2^30 bytes",
    "GB/s and TFLOP/s are powers of ten; links: each direction, all of a kind together",
]


def devices_table(devices: Sequence[Device]) -> str:
    """One row a device: memory, bandwidth, 16-bit and narrower peaks, links."""
    rows = [
        [
            device.name,
            f"{decimal(_exact(device.memory_gib))}{' (n)' if device.nominal else ''}",
            decimal(_exact(device.bandwidth_gbps)),
            _listed(device.dense_tflops),
            _listed(device.links_gbps),
        ]
        for device in devices
    ]
    kinds = (Column(_COLUMNS[0]), Column(_COLUMNS[1]), Column(_COLUMNS[2], "fitted"),
             Column(_COLUMNS[3], "text"))  # fmt: skip
    sheet = Sheet(title="devices", columns=[Column("", "word"), *kinds], rows=rows, notes=_NOTES)
    return capture(*drawn(sheet))


def devices_json(devices: Sequence[Device]) -> str:
    """An object a device, its numbers as its file has them, with the sources."""
    listed = [
        {
            "name": device.name,
            "memory_gib": _number(device.memory_gib),
            "nominal": device.nominal,
            "bandwidth_gbps": _number(device.bandwidth_gbps),
            "dense_tflops": _numbers(device.dense_tflops),
            "sparse_tflops": _numbers(device.sparse_tflops),
            "links_gbps": _numbers(device.links_gbps),
            "notes": device.notes,
            "source": device.source,
        }
        for device in devices
    ]
    return json.dumps(listed, ensure_ascii=False, indent=2) + "\n"


def _listed(facts: Mapping[Any, Fraction]) -> str:
    return ", ".join(f"{name} {decimal(_exact(value))}" for name, value in facts.items()) or "-"


def _numbers(facts: Mapping[Any, Fraction]) -> dict[str, int | float]:
    return {name: _number(value) for name, value in facts.items()}


def _number(value: Fraction) -> int | float:
    exact = _exact(value)
    return exact if isinstance(exact, int) else float(exact)


def _exact(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value
