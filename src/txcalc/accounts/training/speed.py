"""Days, tokens and utilisation of a run: what is missing of them follows from the others."""

from __future__ import annotations

from functools import cached_property

from txcalc.errors import OptionError
from txcalc.exact.quantity import Letter, Quantity, const, exact, product
from txcalc.workload.device import Precision
from txcalc.workload.question import Question, positive

_DAY, _HOUR = const(86_400), const(3_600)
_ABOUT = {
    "mfu": "share of the peak that is reached",
    "throughput": "tokens a second and GPU",
    "days": "days of the run",
}
_DEFAULT: Precision = "bf16"


class Speed:
    """The speed of a run whose tokens cost so many FLOPs: ``run`` all, ``useful`` without repeats.

    Raises:
        OptionError: more than one speed, or GPUs that groups do not divide.
    """

    def __init__(self, question: Question, run: Quantity, useful: Quantity) -> None:
        self._question, self._run, self._useful = question, run, useful
        self._given = {
            name: Letter(exact(value), name, about=_ABOUT[name])
            for name, value in question.trained.items()
        }
        self._check()

    @cached_property
    def tokens(self) -> Quantity | None:
        """Tokens of the run."""
        if self._question.train_tokens is not None:
            return positive("train_tokens", self._question.train_tokens)
        if self._all is None or "days" not in self._given:
            return None
        return product(self._given["days"], _DAY, self._all)

    @cached_property
    def throughput(self) -> Quantity | None:
        """Tokens a second and GPU."""
        if "throughput" in self._given:
            return self._given["throughput"]
        if "mfu" in self._given:
            return product(self._given["mfu"], self._needed_peak) / self._useful
        tokens, days = self._question.train_tokens, self._given.get("days")
        if tokens is None or days is None or self._gpus is None:
            return None
        return positive("train_tokens", tokens) / product(days, _DAY, self._gpus)

    @cached_property
    def days(self) -> Quantity | None:
        """Days of the run."""
        seconds = self._seconds
        return None if seconds is None else (seconds / _DAY).counted_as("days")

    @cached_property
    def gpu_hours(self) -> Quantity | None:
        """Hours of all GPUs together."""
        seconds = self._seconds
        if seconds is None or self._gpus is None:
            return None
        return (product(self._gpus, seconds) / _HOUR).counted_as("GPU hours")

    @cached_property
    def mfu(self) -> Quantity | None:
        """Share of the peak without what is run again."""
        return self._share(self._useful)

    @cached_property
    def hfu(self) -> Quantity | None:
        """Share of the peak with it."""
        return self._share(self._run)

    @property
    def stated(self) -> list[str]:
        """The peak as an assumption."""
        if self._peak is None or self._question.device is None:
            return []
        tflops = float(self._question.device.dense_tflops[self._precision])
        return [f"peak {tflops:,g} TFLOP/s: {self._question.device.name}, dense {self._precision}"]

    def _share(self, flops: Quantity) -> Quantity | None:
        if self.throughput is None or self._peak is None:
            return None
        return product(self.throughput, flops) / self._peak

    @property
    def _seconds(self) -> Quantity | None:
        if self._gpus is None:
            return None
        if "days" in self._given:
            return product(self._given["days"], _DAY)
        if self.tokens is None or self._all is None:
            return None
        return self.tokens / self._all

    @cached_property
    def _all(self) -> Quantity | None:
        """Tokens a second of all GPUs."""
        if self.throughput is None or self._gpus is None:
            return None
        return product(self.throughput, self._gpus)

    @cached_property
    def _gpus(self) -> Quantity | None:
        gpus = self._question.gpus
        return None if gpus is None else positive("gpus", gpus)

    @property
    def _precision(self) -> Precision:
        return self._question.compute or _DEFAULT

    @cached_property
    def _peak(self) -> Letter | None:
        """FLOPs a second of dense products."""
        device = self._question.device
        if device is None:
            return None
        about = f"dense {self._precision} FLOPs a second of {device.name}"
        return Letter(exact(device.peak(self._precision)), "peak", unit="FLOPs", about=about)

    @property
    def _needed_peak(self) -> Letter:
        if self._peak is None:
            raise OptionError("--mfu is a share of a peak: give the --device")
        return self._peak

    def _check(self) -> None:
        question, given = self._question, self._given
        if "mfu" in given and "throughput" in given:
            raise OptionError("--mfu and --throughput say the same: give one, the other follows")
        speeds = {"mfu", "throughput", "days"} & given.keys()
        if {"days"} < speeds and question.train_tokens is not None:
            raise OptionError(
                "--train-tokens, --days and a speed: each follows from the two others, give two"
            )
        if question.days is not None and question.gpus is None:
            raise OptionError("--days is of so many GPUs: give --gpus")
        if question.gpus is not None and question.gpus % question.dp:
            raise OptionError(f"--gpus {question.gpus} are no multiple of --dp {question.dp}")
