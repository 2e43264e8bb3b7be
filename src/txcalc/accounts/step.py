"""One pass over all stages of a layout: how long it takes at best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce

from txcalc.accounts.communication import Communication, Sent
from txcalc.accounts.operations import Operation, Work
from txcalc.accounts.rates import Rates
from txcalc.accounts.setting import Setting
from txcalc.exact.quantity import ZERO, Quantity, most, total
from txcalc.report.report import Figures
from txcalc.workload.passes import Workload

EXCHANGES = ("all_reduce", "experts", "logits", "stages")


class Run:
    """Operations that follow one another, the rates of the device that runs them, and their time.

    Each is bound by the peak or by the bandwidth: the roofline, doi:10.1145/1498765.1498785.
    """

    def __init__(self, operations: Sequence[Operation], rates: Rates) -> None:
        self.operations, self._rates = operations, rates

    @cached_property
    def flops(self) -> Quantity:
        """FLOPs of all."""
        return total((each.flops for each in self.operations), "FLOPs")

    @cached_property
    def bytes(self) -> Quantity:
        """Bytes of all."""
        return total((each.bytes for each in self.operations), "bytes")

    @cached_property
    def time(self) -> Quantity:
        """Seconds, one operation after the other."""
        times = (self._rates.time(each.flops, each.bytes) for each in self.operations)
        return total(times, "seconds")

    @property
    def floor(self) -> Quantity:
        """Seconds where all of them overlap."""
        return self._rates.time(self.flops, self.bytes)

    @property
    def bound(self) -> str:
        """What binds all of them, or that some are bound by the one and some by the other."""
        bounds = {self._rates.binds(each.flops, each.bytes) for each in self.operations}
        return bounds.pop() if len(bounds) == 1 else "both"

    def figures(self, at: str) -> Figures:
        """All of it, below an address."""
        figures = {f"{at}.flops": self.flops, f"{at}.bytes": self.bytes}
        if self.bytes.value:
            figures[f"{at}.intensity"] = self.flops / self.bytes
        return figures | {f"{at}.time": self.time, f"{at}.floor": self.floor}


class Components(Run):
    """The same of components, each a run of its own."""

    def __init__(self, operations: Sequence[Operation], rates: Rates) -> None:
        super().__init__(operations, rates)
        named: dict[str, list[Operation]] = {}
        for each in operations:
            named.setdefault(each.component, []).append(each)
        self.each = {name: Run(component, rates) for name, component in named.items()}

    @cached_property
    def flops(self) -> Quantity:
        """FLOPs of all components."""
        return total((each.flops for each in self.each.values()), "FLOPs")

    @cached_property
    def bytes(self) -> Quantity:
        """Bytes of all components."""
        return total((each.bytes for each in self.each.values()), "bytes")

    @cached_property
    def time(self) -> Quantity:
        """Seconds, one component after the other."""
        return total((each.time for each in self.each.values()), "seconds")

    @property
    def weights_alone(self) -> tuple[Quantity, Quantity]:
        """FLOPs of products that read a weight, and bytes of those weights."""
        reading = [(each.flops, each.read) for each in self.operations if each.read is not None]
        flops, read = zip(*reading, strict=True) if reading else ((), ())
        return total(flops, "FLOPs"), total(read, "bytes")


class Step:
    """A GPU of each stage, one stage after the other, and what they send in between.

    ``run`` has the operations of all of them.
    """

    def __init__(self, setting: Setting, workload: Workload, rates: Rates) -> None:
        self._rates, self.workload = rates, workload
        layout = setting.question.layout
        works = [Work(setting, workload, stage) for stage in range(int(layout.pp.value))]
        self._stages = [Components(work.operations(), rates) for work in works]
        self._sent: list[dict[str, Sent]] = []
        if layout.gpus.value > 1:
            exchanges = Communication(setting, works)
            self._sent = [exchanges.sent(work) for work in works]
        every = [each for stage in self._stages for each in stage.operations]
        self.run = self._stages[0] if len(works) == 1 else Components(every, rates)

    @cached_property
    def slowest(self) -> Quantity:
        """Seconds of the stage that takes longest, which all wait for."""
        return reduce(most, self._stage_times)

    @cached_property
    def with_communication(self) -> Quantity:
        """Seconds of all stages, what they send included."""
        return total(self._stage_times, "seconds")

    @cached_property
    def communication(self) -> Quantity:
        """Seconds of what all stages send."""
        return total(map(self._sending, self._sent), "seconds")

    def figures(self, at: str) -> Figures:
        """All figures of the pass, below an address."""
        figures = self.run.figures(at)
        figures[f"{at}.floor"] = total((stage.floor for stage in self._stages), "seconds")
        figures[f"{at}.communication"] = self.communication
        figures[f"{at}.time_with_communication"] = self.with_communication
        for name in EXCHANGES if self._sent else ():
            sent = [stage[name] for stage in self._sent]
            exchange = f"{at}.communication.{name}"
            figures[exchange] = total((each.bytes for each in sent), "bytes")
            figures[f"{exchange}.count"] = total((each.count for each in sent), "")
        for component, run in self.run.each.items():
            figures |= run.figures(f"{at}.{component}")
        return figures

    def _sending(self, sent: dict[str, Sent]) -> Quantity:
        bytes_ = total((each.bytes for each in sent.values()), "bytes")
        return bytes_ / self._rates.link if bytes_.value else ZERO.counted_as("seconds")

    @cached_property
    def _stage_times(self) -> list[Quantity]:
        times = [stage.time for stage in self._stages]
        if not self._sent:
            return times
        return [time + self._sending(sent) for time, sent in zip(times, self._sent, strict=True)]
