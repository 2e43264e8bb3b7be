"""What one step of training computes: forward, backward, and what is run again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import msgspec

from txcalc.accounts.fold import flops, multiplied, over_all, run, sums
from txcalc.accounts.setting import Setting
from txcalc.accounts.training.adapters import Adapters, frozen
from txcalc.accounts.training.conventions import Count, convention
from txcalc.errors import OptionError, RefusedError
from txcalc.exact.quantity import MINUS_ONE, TWO, ZERO, Letter, Quantity, defined, product, total
from txcalc.model.model import Given, Layers, Row
from txcalc.model.rows import Op, Weight
from txcalc.workload.passes import Pass, Workload
from txcalc.workload.question import MEANINGS, Question, positive

PER_MAC = TWO.counted_as("FLOPs")
NO_FLOPS = ZERO.counted_as("FLOPs")
_RowCost = Callable[[Row], Quantity | None]


class Work:
    """The FLOPs of one step, by the count of the question's convention."""

    def __init__(self, model_setting: Setting) -> None:
        self._setting = model_setting
        self._question = question = model_setting.question
        model = model_setting.model
        exact = question.flops_as == "exact"
        self._count: Count | None = None if exact else convention(question.flops_as, model)
        self._model = model if self._count is None else self._count.applied(model)
        self._lora = None if question.adapters is None else Adapters(model, question.adapters)
        self._check()

    @cached_property
    def workload(self) -> Workload:
        """A forward pass over the sequences of a step."""
        asked = self._setting.workload("prefill")
        scores = asked.scores if self._count is None else self._count.scores
        batch = sequences(self._question)
        return msgspec.structs.replace(asked, batch=batch, scores=scores, logits="all")

    @cached_property
    def tokens(self) -> Quantity:
        """Tokens of a step; of a pair of stacks the decoder's."""
        return self._passes["main"].tokens

    @cached_property
    def forward(self) -> Quantity:
        """The forward pass."""
        return self._sum(self._rows(), self._cost)

    @cached_property
    def gradients(self) -> Quantity:
        """The gradients: of each product of its input and of its weight, so twice the forward.

        arXiv:2001.08361 section 2.1; of a frozen weight of its input alone.
        """
        if self._lora is None:
            return product(TWO, self.forward)
        base = self._sum(self._setting.model.text_rows, self._frozen)
        adapters = product(TWO, self._sum(self._lora.rows(), self._cost))
        unneeded = self._lora.unneeded(
            self._passes["decoder"], PER_MAC, keeps_scores=self._question.attention == "eager"
        )
        return total((base, adapters, *(product(MINUS_ONE, each) for each in unneeded)), "FLOPs")

    @cached_property
    def rebuilt(self) -> Quantity:
        """Scores that the backward pass of flash attention makes again (arXiv:2205.14135)."""
        if self._question.attention == "eager" or self._count is not None:
            return NO_FLOPS
        return self._sum(self._rows(), self._of_queries_with_keys)

    @cached_property
    def backward(self) -> Quantity:
        """The backward pass, without what recomputation runs."""
        return total((self.gradients, self.rebuilt), "FLOPs")

    @cached_property
    def recompute(self) -> Quantity:
        """What of the forward pass is run again, by torch up to the last tensor that is saved.

        Selectively that is queries times keys: nothing keeps probabilities times values.
        """
        count, again = self._count, self._question.recompute
        if count is not None and count.repeats == "always":
            return self._sum(self._blocks(), self._cost)
        match again:
            case "none":
                return NO_FLOPS
            case "selective":
                kept = self._of_queries_with_keys if count is None else self._of_scores
                return self._sum(self._blocks(), kept)
            case "full" | "block":
                if count is not None and count.repeats == "all":
                    return self.forward
                stops = again == "block" and count is None
                return self._sum(self._blocks(), self._until_last if stops else self._cost)

    @cached_property
    def step(self) -> Quantity:
        """All of a step."""
        return total((self.forward, self.backward, self.recompute), "FLOPs")

    @cached_property
    def useful(self) -> Quantity:
        """What a step computes where nothing is computed again: the numerator of MFU.

        arXiv:2204.02311 appendix B; of ``megatron-2021``, which counts recomputation, all of it.
        """
        always = self._count is not None and self._count.repeats == "always"
        again = (self.recompute,) if always else ()
        return total((self.forward, self.gradients, *again), "FLOPs")

    @cached_property
    def _passes(self) -> dict[Given, Pass]:
        return self._setting.passes(self.workload)

    def _rows(self) -> Iterable[Row]:
        adapters = () if self._lora is None else self._lora.rows()
        return (*self._model.text_rows, *adapters)

    def _blocks(self) -> Iterable[Row]:
        return (row for row in self._rows() if row.layers is not None)

    def _sum(self, rows: Iterable[Row], cost: _RowCost) -> Quantity:
        components = sums(((row, cost(row)) for row in rows), "FLOPs")
        return over_all(self._model, components, run, "FLOPs")

    def _cost(self, row: Row) -> Quantity | None:
        """The forward product of a row."""
        given, count = self._passes[row.given], self._count
        if count is None:
            return flops(row, given, PER_MAC)
        if not count.counts(row):
            return None
        if isinstance(row.declared, Weight):
            weight = row.declared
            tokens = multiplied(weight, given) if count.products else self.tokens
            return product(PER_MAC, count.multiply_adds(weight), tokens)
        cost = flops(row, given, PER_MAC)
        return None if cost is None else product(count.share, cost)

    def _frozen(self, row: Row) -> Quantity | None:
        return frozen(row, self._passes[row.given], PER_MAC)

    def _of_scores(self, row: Row) -> Quantity | None:
        return self._cost(row) if isinstance(row.declared, Op) else None

    def _of_queries_with_keys(self, row: Row) -> Quantity | None:
        if not isinstance(op := row.declared, Op):
            return None
        return product(PER_MAC, op.heads, op.d_qk, self._passes[row.given].pairs(op.reach))

    def _until_last(self, row: Row) -> Quantity | None:
        """The product of a row that runs before the last tensor of its block is saved."""
        assert row.layers is not None
        return None if row.name == last_unsaved(row.layers) else self._cost(row)

    def _check(self) -> None:
        question, name = self._question, self._model.name
        if question.recompute == "selective" and question.attention == "flash":
            raise OptionError(
                "--recompute selective runs the score products again, which flash attention never "
                "keeps: it saves nothing; take --attention eager, or --recompute block"
            )
        if self._lora is not None and question.recompute != "none":
            raise RefusedError(
                f"{name}: --lora with --recompute has no known count: take one of them"
            )
        if self._lora is not None and self._count is not None:
            raise OptionError(f"--flops-as {question.flops_as} says nothing of --lora")


def last_unsaved(kind: Layers) -> str | None:
    """The last product of a layer, where nothing keeps its output: recomputation ends before it.

    Raises:
        RefusedError: a part of which it is not known.
    """
    block = kind.block
    if block.placement in ("post", "output", "sandwich") or block.residual is not None:
        return None
    role = block.roles[-1]
    part = getattr(block, role)
    if part.last_product is None:
        tag = part.__struct_config__.tag
        raise RefusedError(
            f"block {kind.name!r}: where --recompute block ends in kind {tag!r} is not known: "
            "take --recompute full"
        )
    return f"{role}.{part.last_product}" if part.last_product else None


def sequences(question: Question) -> Letter:
    """Sequences of a step: micro-batch x micro-batches x data-parallel groups."""
    each = positive("micro_batch", question.micro_batch)
    times = [
        letter
        for letter in (positive("microbatches", question.microbatches), question.layout.dp)
        if letter.value != 1
    ]
    return defined("batch", product(each, *times), about=MEANINGS["batch"]) if times else each
