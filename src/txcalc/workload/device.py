"""An accelerator: what it holds, and how fast it computes, reads and sends at best."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

import msgspec

from txcalc.errors import OptionError

Precision = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4", "int4"]
"""Formats that matrix products run in; products of fp16 and narrower floats add up in fp32."""
_WIDER: dict[Precision, tuple[Precision, ...]] = {
    "fp32": ("fp32",),
    "tf32": ("tf32", "fp32"),
    "bf16": ("bf16", "fp16", "tf32", "fp32"),
    "fp16": ("fp16", "bf16", "tf32", "fp32"),
    "fp8": ("fp8", "bf16", "fp16", "tf32", "fp32"),
    "int8": ("int8", "bf16", "fp16", "tf32", "fp32"),
    "fp4": ("fp4", "fp8", "bf16", "fp16", "tf32", "fp32"),
    "int4": ("int4", "int8", "bf16", "fp16", "tf32", "fp32"),
}
"""Formats in which products of one may run where a device has no such products, narrowest first."""
Facts = Literal["memory", "bandwidth", "peaks", "links"]
"""Groups of facts, each with a source of its own."""


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One accelerator, as a program addresses it: one GPU, one chip, one die.

    The fields are a device file's, in its units: GiB of 2^30 bytes; GB/s of 10^9 bytes, for links
    in each direction and in all links of that kind together; TFLOP/s of 10^12, a multiply-add
    counting 2, for int8 and int4 as many operations.  ``nominal`` marks a size that is the
    vendor's, not what a program sees.  ``source`` is one text for all facts, or one a group.
    Properties and methods answer in bytes and seconds.
    """

    name: str
    source: str | dict[Facts, str]
    memory_gib: Fraction
    bandwidth_gbps: Fraction
    nominal: bool = False
    dense_tflops: dict[Precision, Fraction] = {}
    sparse_tflops: dict[Precision, Fraction] = {}
    links_gbps: dict[str, Fraction] = {}
    notes: list[str] = []

    @property
    def memory(self) -> Fraction:
        """Bytes."""
        return self.memory_gib * 2**30

    @property
    def bandwidth(self) -> Fraction:
        """Bytes/s between memory and chip."""
        return self.bandwidth_gbps * 10**9

    def peak(self, precision: str) -> Fraction:
        """FLOP/s of dense products in a format.

        Raises:
            OptionError: a format that no public source gives a peak for.
        """
        return self._fact(self.dense_tflops, precision, "dense peak") * 10**12

    def runs(self, precision: Precision) -> Precision:
        """The format in which the device runs products of one: its own, or the narrowest wider.

        Raises:
            OptionError: no dense peak of such a format.
        """
        for wider in _WIDER[precision]:
            if wider in self.dense_tflops:
                return wider
        self.peak(precision)
        raise AssertionError(precision)

    def link(self, name: str) -> Fraction:
        """Bytes/s that leave, and as many that enter, over the links of one kind.

        Raises:
            OptionError: a link that the device does not have.
        """
        return self._fact(self.links_gbps, name, "link") * 10**9

    @property
    def cited(self) -> list[str]:
        """The sources, each once."""
        texts = [self.source] if isinstance(self.source, str) else self.source.values()
        return list(dict.fromkeys(texts))

    def _fact(self, facts: Mapping[Any, Fraction], wanted: str, kind: str) -> Fraction:
        if wanted not in facts:
            stated = f"it has {', '.join(facts)}" if facts else "it states none"
            raise OptionError(f"{self.name} has no {kind} {wanted!r}; {stated}")
        return facts[wanted]
