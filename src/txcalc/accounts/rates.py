"""How fast a device computes, reads and sends at best, as letters of a question."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import cast

from txcalc.errors import OptionError
from txcalc.exact.quantity import Letter, Quantity, exact, most, product
from txcalc.workload.device import Precision
from txcalc.workload.question import Question


class Rates:
    """The peak, the bandwidth and the link of a question's device.

    Products run in ``--compute``, by default in ``--dtype``; where the device has no such products
    in the narrowest wider format that it has.  Peak and bandwidth are what is reached of them.

    Raises:
        OptionError: no device, or one without the peak that is asked for.
    """

    def __init__(self, question: Question, account: str) -> None:
        if question.device is None:
            raise OptionError(f"{account} needs a --device: see 'txcalc devices'")
        self._question, self._device = question, question.device
        self._runs = self._device.runs(self._asked)

    @cached_property
    def peak(self) -> Quantity:
        """FLOPs a second of dense products."""
        peak = _rate(self._device.peak(self._runs), "peak", "FLOPs", f"dense peak in {self._runs}")
        return self._reached(peak, "mfu", self._question.reached[0])

    @cached_property
    def bandwidth(self) -> Quantity:
        """Bytes a second between memory and chip."""
        bandwidth = _rate(self._device.bandwidth, "bandwidth", "bytes", "memory bandwidth")
        return self._reached(bandwidth, "mbu", self._question.reached[1])

    @cached_property
    def link(self) -> Letter:
        """Bytes a second that leave a GPU for others.

        Raises:
            OptionError: a device that states no such link.
        """
        return _rate(self._device.link(self._link), "link", "bytes", f"{self._link}, each way")

    @cached_property
    def ridge(self) -> Quantity:
        """FLOPs a byte from which products are bound by the peak."""
        return self.peak / self.bandwidth

    def time(self, flops: Quantity, bytes_: Quantity) -> Quantity:
        """Seconds of what computes and moves at once: the larger of both."""
        return most(flops / self.peak, bytes_ / self.bandwidth)

    def binds(self, flops: Quantity, bytes_: Quantity) -> str:
        """Which of both is the larger."""
        is_compute = flops.value * self.bandwidth.value >= bytes_.value * self.peak.value
        return "compute" if is_compute else "memory"

    @property
    def stated(self) -> list[str]:
        """Both rates as assumptions, and what is reached of them."""
        tflops, gbps = self._device.dense_tflops[self._runs], self._device.bandwidth_gbps
        instead = f" ({self._device.name} has no {self._asked})" * (self._runs != self._asked)
        shares = zip(("mfu", "mbu"), self._question.reached, strict=True)
        return [
            f"products in {self._runs}{instead}",
            f"{float(tflops):,g} TFLOP/s dense",
            f"{float(gbps):,g} GB/s",
            *(f"{name} {float(share):g}" for name, share in shares if share != 1),
        ]

    @property
    def stated_link(self) -> str:
        """The link as an assumption."""
        return f"{self._link} {float(self._device.links_gbps[self._link]):,g} GB/s each way"

    def _reached(self, rate: Letter, name: str, share: Fraction) -> Quantity:
        about = "share of it that is reached"
        return rate if share == 1 else product(rate, Letter(share, name, about=about))

    @property
    def _asked(self) -> Precision:
        return self._question.compute or cast("Precision", self._question.dtype)

    @property
    def _link(self) -> str:
        links = self._device.links_gbps
        fastest = max(links, key=lambda name: links[name], default="between GPUs")
        return self._question.link or fastest


def _rate(value: Fraction, name: str, counted: str, about: str) -> Letter:
    return Letter(exact(value), name, unit=f"{counted}/second", about=about)
