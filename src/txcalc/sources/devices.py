"""Devices from YAML: those that come with txcalc, and one's own."""

from __future__ import annotations

import os
import re
from fractions import Fraction
from typing import Any, get_args

import msgspec

from txcalc.errors import OptionError, nearest
from txcalc.sources import yaml
from txcalc.sources.bundled import configs
from txcalc.sources.decoding import Decoder
from txcalc.validation import fault
from txcalc.workload.device import Device, Facts, Precision

_DECIMAL = re.compile(r"(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?", re.ASCII)
_NUMBERS = ("memory_gib", "bandwidth_gbps")
_TABLES = ("dense_tflops", "sparse_tflops", "links_gbps")
_FACTS = {"peaks": "dense_tflops", "links": "links_gbps"}
"""Groups of facts that a file may leave out, and the field that states them."""


def device_names() -> list[str]:
    """The names of the bundled devices, sorted."""
    entries = os.listdir(_folder())
    return sorted(entry.removesuffix(".yaml") for entry in entries if entry.endswith(".yaml"))


def all_devices() -> list[Device]:
    """The bundled devices, sorted by name."""
    return [load_device(name) for name in device_names()]


def load_device(name: str) -> Device:
    """The device of a bundled name, in any case, or of a YAML file.

    Raises:
        OptionError: neither a bundled name nor a file.
        DescriptionError: a file that does not describe a device.
    """
    if name.lower() in device_names():
        return device_of(yaml.read(os.path.join(_folder(), f"{name.lower()}.yaml")), name)
    if os.sep in name or name.endswith((".yaml", ".yml")) or os.path.exists(name):
        return device_of(yaml.read(name), name)
    hint = nearest(name, device_names()) or (
        "; 'txcalc devices' lists those there are; a YAML file describes another, "
        "and --kv-memory states what is left of one for the cache"
    )
    raise OptionError(f"no bundled device and no file {name!r}{hint}")


def device_of(tree: Any, file: str) -> Device:
    """The device that a tree describes; ``file`` is what errors call it.

    Raises:
        DescriptionError: a field that is unknown, missing, of the wrong type or contradictory.
    """
    return _Reader(file).device(tree)


def _folder() -> str:
    return os.path.join(configs(), "devices")


class _Reader(Decoder):
    """Numbers as exact decimals; every error has the path of its field."""

    def device(self, tree: Any) -> Device:
        """The whole device."""
        fields = dict(self.mapping(tree, "", Device))
        for field in _NUMBERS:
            if field in fields:
                fields[field] = self._number(fields[field], field)
        for field in _TABLES:
            if field in fields:
                fields[field] = self._table(fields[field], field)
        if isinstance(fields.get("source"), dict):
            self._check_keys(fields["source"], "source", get_args(Facts))
        try:
            device = msgspec.convert(fields, Device)
        except msgspec.ValidationError as error:
            self.refuse(*fault(error, Device))
        self._check_texts(device)
        self._check_sources(device)
        self._check_sparse(device)
        return device

    def _table(self, raw: Any, path: str) -> dict[str, Fraction]:
        table = self.mapping(raw, path, None)
        if path != "links_gbps":
            self._check_keys(table, path, get_args(Precision))
        return {key: self._number(value, f"{path}.{key}") for key, value in table.items()}

    def _number(self, raw: Any, path: str) -> Fraction:
        written = str(raw) if isinstance(raw, int | str) and not isinstance(raw, bool) else ""
        if not _DECIMAL.fullmatch(written) or not (number := Fraction(written)):
            self.refuse(path, f"a positive number in plain decimals is needed, not {raw!r}")
        return number

    def _check_keys(self, table: dict[str, Any], path: str, known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                self.refuse(f"{path}.{key}", "unknown field" + nearest(key, list(known)))

    def _check_texts(self, device: Device) -> None:
        for field, texts in (("name", [device.name]), ("source", device.cited)):
            if not all(text.isprintable() and text for text in texts):
                self.refuse(field, "a printable text is needed")

    def _check_sources(self, device: Device) -> None:
        """Each group of facts that the file states has a source."""
        if isinstance(device.source, str):
            return
        for group in get_args(Facts):
            if group not in device.source and getattr(device, _FACTS.get(group, "name")):
                self.refuse("source", f"says nothing of {group}, which the file states")

    def _check_sparse(self, device: Device) -> None:
        """Leaving out zeros never slows a product."""
        for precision, sparse in device.sparse_tflops.items():
            dense = device.dense_tflops.get(precision)
            path = f"sparse_tflops.{precision}"
            if dense is None:
                self.refuse(path, "no dense peak stands beside it")
            if sparse < dense:
                self.refuse(path, "below the dense peak: were the two swapped?")
