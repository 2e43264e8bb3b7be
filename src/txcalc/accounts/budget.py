"""What a GPU of one stage has left for caches, and what fits there."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import msgspec

from txcalc.accounts.caches import Caches
from txcalc.accounts.gpu import NOTHING, Gpu
from txcalc.accounts.pool import Pool, Share, pool
from txcalc.accounts.setting import Setting
from txcalc.errors import OptionError
from txcalc.exact.quantity import (
    MINUS_ONE,
    ONE,
    ZERO,
    Letter,
    Quantity,
    ceil_div,
    const,
    exact,
    most,
    product,
    total,
)
from txcalc.exact.search import NeverError
from txcalc.exact.solve import first
from txcalc.model.model import Model
from txcalc.report.report import Figures
from txcalc.workload.question import Question, positive

GIB = 2**30


def with_count(question: Question) -> Question:
    """The question with ``--count`` alone as a tensor-parallel group.

    Raises:
        OptionError: a layout of another number of GPUs.
    """
    if question.count is None:
        return question
    if question.tp == question.pp == question.dp == 1:
        question = msgspec.structs.replace(question, tp=question.count)
    gpus = question.layout.gpus.value
    if gpus != question.count:
        raise OptionError(
            f"--count {question.count}, but the layout has {gpus} GPUs: tp x pp x dp = count"
        )
    return question


class Budget:
    """One stage: what a GPU of it has for caches, by the architecture and as an engine allocates.

    The weights are those that the engine loads; ``bound`` is the architecture's cache.
    """

    def __init__(self, model: Model, question: Question, stage: int) -> None:
        self._question, self._stage = question, stage
        self._setting = Setting(model, question)
        self._bare = Setting(model, msgspec.structs.replace(question, engine="none"))
        self.workload = self._setting.workload("decode")
        self.bound = Gpu(self._bare, self.workload, stage)
        is_bound = question.engine == "none"
        self.engine = self.bound if is_bound else Gpu(self._setting, self.workload, stage)

    @cached_property
    def requests(self) -> Quantity:
        """Requests of each data-parallel group."""
        asked, groups = positive("requests", self._question.requests), self._question.layout.dp
        return asked if groups.value == 1 else ceil_div(asked, groups)

    @cached_property
    def memory(self) -> Quantity:
        """Bytes of the device."""
        device = self._question.device
        assert device is not None
        return Letter(device.memory, "memory", unit="bytes", about="memory of one GPU")

    @cached_property
    def available(self) -> Quantity:
        """Bytes of it that may be used."""
        share = Letter(self._question.utilised, "utilisation", about="share of it that is used")
        return product(self.memory, share) // ONE

    @property
    def overhead(self) -> Quantity:
        """Bytes that an engine takes beside."""
        bytes_ = exact(Fraction(self._question.overhead) * GIB)
        return Letter(bytes_, "overhead", unit="bytes", about="what an engine takes beside")

    @cached_property
    def left(self) -> Quantity:
        """Bytes for caches; less than none where the weights alone do not fit."""
        if self._question.kv_memory is not None:
            bytes_ = exact(Fraction(self._question.kv_memory) * GIB)
            return Letter(bytes_, "kv_memory", unit="bytes", about="memory for the cache")
        taken = (product(MINUS_ONE, each) for each in (self.engine.loaded, self.overhead))
        return total((self.available, *taken), "bytes")

    @cached_property
    def budget(self) -> Quantity:
        """Bytes for caches."""
        return self.left if self._question.kv_memory is not None else most(self.left, NOTHING)

    @cached_property
    def missing(self) -> Quantity:
        """Bytes that the weights and the caches of the requests need beyond what there is."""
        return most(self.needed - self.left, NOTHING)

    @cached_property
    def needed(self) -> Quantity:
        """Bytes of the requests' caches."""
        return product(self.requests, self.bound.caches.sequence)

    @cached_property
    def allocated(self) -> Quantity:
        """Bytes that the engine allocates for the requests, in its blocks or cells."""
        caches = self.engine.caches
        if self._pool is None:
            return product(self.requests, caches.sequence)
        needed = (share.needed(self.requests, caches) for share in self._pool.shares)
        return max(needed, key=lambda each: each.value)

    @property
    def required(self) -> Quantity:
        """Bytes that a GPU must have for all of it: by the bound, and by the engine."""
        beside = (self.engine.loaded, self.overhead) if self._question.kv_memory is None else ()
        return total((*beside, most(self.needed, self.allocated)), "bytes")

    def subtraction(self) -> Figures:
        """How the budget comes about, and what stands against it."""
        figures: Figures = {}
        if self._question.kv_memory is None:
            figures = {
                "fit.memory": self.memory // ONE,
                "fit.available": self.available,
                "fit.loaded": self.engine.loaded,
                "fit.overhead": self.overhead,
            }
        return figures | {
            "fit.budget": self.budget,
            "fit.needed": self.needed,
            "fit.sequence": self.bound.caches.sequence,
            "fit.token": self.bound.caches.token,
            "fit.missing": self.missing,
        }

    @property
    def sequences(self) -> Quantity:
        """Requests of all groups that fit at ctx."""
        return self._in_all_groups(self.budget // self.bound.caches.sequence)

    def held(self) -> Figures:
        """Requests of all groups at ctx, and tokens; nothing where sequences keep nothing."""
        one, token = self.bound.caches.sequence, self.bound.caches.token
        if not one.value:
            return {}
        figures = {
            "fit.sequences": self.sequences,
            "fit.tokens": self.budget // token if token.value else ZERO,
        }
        pool = self._pool if self._question.engine != "none" else None
        if pool is None:
            return figures
        if pool.blocks is not None and pool.tokens is not None:
            figures |= {"fit.engine.blocks": pool.blocks, "fit.engine.tokens": pool.tokens}
        caches = self.engine.caches
        fitting = [share.usable // share.each(caches) for share in pool.shares]
        least = min(fitting, key=lambda each: each.value)
        return figures | {"fit.engine.sequences": self._in_all_groups(least)}

    def longest(self) -> Figures:
        """The longest context of the requests; none where any length fits."""
        if not self.bound.caches.sequence.value:
            return {}
        bare = pool(self._bare.question.serving, self.bound.caches, self.budget)
        figures = self._longest("fit.context", self.bound.caches, bare)
        if self._question.engine == "none":
            return figures
        return figures | self._longest("fit.engine.context", self.engine.caches, self._pool)

    @cached_property
    def _pool(self) -> Pool | None:
        """What the engine makes of the budget."""
        return pool(self._question.serving, self.engine.caches, self.budget)

    def _in_all_groups(self, fitting: Quantity) -> Quantity:
        return product(self._question.layout.dp, fitting)

    def _longest(self, name: str, caches: Caches, of: Pool | None) -> Figures:
        """The longest context of the requests in a pool."""
        each = [self._longest_in(share, caches) for share in (of.shares if of else ())]
        limits = [limit for limit in each if limit is not None]
        return {name: min(limits, key=lambda limit: limit.value)} if limits else {}

    def _longest_in(self, share: Share, caches: Caches) -> Quantity | None:
        """The longest context of which a share holds the requests; None where any length fits."""

        def sides(ctx: Letter) -> tuple[Quantity, Quantity]:
            needed = product(self.requests, share.each(caches.at(ctx)))
            return needed, share.usable + const(1, share.pieces.unit)

        try:
            return first("ctx", sides, "context in tokens") - ONE
        except NeverError:
            return None
