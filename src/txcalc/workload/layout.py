"""How GPUs divide a model: tensor, data, expert and context groups, and pipeline stages."""

from __future__ import annotations

import re

import msgspec

from txcalc.errors import OptionError
from txcalc.exact.quantity import Letter, Quantity, product

MOST_STAGES = 1000
MEANINGS = {
    "tp": "GPUs that divide the heads and widths of a layer",
    "pp": "stages that the layers are divided into",
    "dp": "groups of GPUs, each with requests of its own",
    "dcp": "GPUs that divide a sequence's cache by tokens",
}
"""The letters of a layout."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """``pp`` stages, in each of which ``dp`` groups of ``tp`` GPUs run the same layers.

    The groups share the routed experts of a layer over tp x dp GPUs: whole experts with ``ep``,
    else a slice of each.  A sequence's cache is divided by tokens over ``dcp`` GPUs.  ``stages``
    are the layers of each stage where they are not as equal as possible.
    """

    tp: Letter
    pp: Letter
    dp: Letter
    dcp: Letter
    ep: bool = False
    stages: tuple[int, ...] = ()
    multiple: int = 1
    """Rows of token tables are padded to a multiple of it before they are divided."""

    @property
    def experts(self) -> Quantity:
        """GPUs that share the routed experts of a layer."""
        return product(self.tp, self.dp)

    @property
    def gpus(self) -> Quantity:
        """All GPUs."""
        return product(self.tp, self.pp, self.dp)

    def check(self) -> None:
        """Refuses sizes that do not go together.

        Raises:
            OptionError: stages that are not as many as ``pp``, or a cache divided by GPUs that are
            no even part of a group.
        """
        tp, dcp, pp = (int(letter.value) for letter in (self.tp, self.dcp, self.pp))
        if self.stages and len(self.stages) != pp:
            listed = ",".join(map(str, self.stages))
            raise OptionError(f"--stages {listed}: {len(self.stages)} stages, but --pp {pp}")
        if tp % dcp:
            raise OptionError(f"--dcp {dcp} divides a group of --tp {tp}: take a divisor of it")

    def layers(self, count: int) -> list[int]:
        """How many of ``count`` layers each stage has, the earlier ones more where they differ.

        Raises:
            OptionError: more stages than layers, or stages that have not ``count`` layers.
        """
        n = int(self.pp.value)
        if n > count:
            raise OptionError(f"--pp {n}: the model has {count} layers, at least one for a stage")
        if not self.stages:
            return [count // n + (i < count % n) for i in range(n)]
        listed = ",".join(map(str, self.stages))
        if sum(self.stages) != count:
            raise OptionError(
                f"--stages {listed}: {sum(self.stages)} layers; the model has {count}"
            )
        return list(self.stages)


def layout(
    *,
    tp: int = 1,
    pp: int = 1,
    dp: int = 1,
    dcp: int = 1,
    ep: bool = False,
    stages: str = "",
    multiple: int = 1,
) -> Layout:
    """A layout of whole numbers; ``stages`` as ``14,13``.

    Raises:
        OptionError: a number below 1, or stages that are no list of such.
    """
    sizes = {"tp": tp, "pp": pp, "dp": dp, "dcp": dcp}
    for name, size in sizes.items():
        if not 0 < size <= MOST_STAGES * MOST_STAGES:
            raise OptionError(f"--{name} {size}: a whole number from 1 to 10^6 is needed")
    if pp > MOST_STAGES:
        raise OptionError(f"--pp {pp}: at most {MOST_STAGES:,} stages")
    letters = {name: Letter(size, name, about=MEANINGS[name]) for name, size in sizes.items()}
    return Layout(**letters, ep=ep, stages=_stages(stages), multiple=multiple)


def _stages(text: str) -> tuple[int, ...]:
    words = text.split(",") if text else []
    for word in words:
        if not re.fullmatch("0*[1-9][0-9]{0,8}", word):
            raise OptionError(f"--stages {text}: layers of each stage are needed, as 14,13")
    return tuple(map(int, words))
