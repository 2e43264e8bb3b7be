"""Public counts of a training token's FLOPs, each a fold that leaves rows or pairs out."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import msgspec

from txcalc.exact.quantity import ONE, ZERO, Quantity, ceil_div, const, defined, product
from txcalc.model.model import Model, Row
from txcalc.model.rows import Op, Weight
from txcalc.workload.passes import Scores
from txcalc.workload.training import Convention

HALF = const(Fraction(1, 2))


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """A convention: which rows it counts, and which pairs.

    ``products`` counts matrix products, else every parameter that a token uses counts as one.
    ``scores`` are the pairs; ``share`` of them counts.  A vocabulary is ``padded`` to a multiple.
    ``repeats`` says what recomputation runs again: the blocks, the blocks always, or all.
    """

    definition: str
    source: str
    products: bool = False
    without: frozenset[str] = frozenset()
    scores: Scores = "square"
    share: Quantity = ONE
    padded: int = 1
    repeats: Literal["blocks", "always", "all"] = "blocks"

    def counts(self, row: Row) -> bool:
        """Whether a row counts."""
        if row.component == "mtp" or {row.component, row.role, row.address} & self.without:
            return False
        declared = row.declared
        if isinstance(declared, Op):
            return self.scores != "none"
        return isinstance(declared, Weight) and (declared.use == "matmul" or not self.products)

    def multiply_adds(self, weight: Weight) -> Quantity:
        """What a weight counts of one token."""
        if self.products:
            return weight.macs
        is_none = weight.tied or weight.use == "buffer"
        return ZERO if is_none else product(weight.used, weight.each)

    def applied(self, model: Model) -> Model:
        """The model whose rows are counted: with a padded vocabulary where it is padded."""
        if self.padded == 1 or model.vocab is None:
            return model
        side = const(self.padded)
        rows = product(side, ceil_div(model.vocab, side))
        about = f"vocabulary in multiples of {self.padded}"
        padded = defined("vocab_padded", rows, model.vocab.path, about)
        return msgspec.structs.replace(model, vocab=padded)


_TABLES = frozenset({"embedding"})
_ROUTER = frozenset({"router"})

COUNTS: dict[Convention, Count] = {
    "6n": Count(
        definition="6 FLOPs for each parameter that a token uses, norms and tables too",
        source="arXiv:2203.15556 section 3.3, C = 6ND",
        scores="none",
    ),
    "6n-non-embedding": Count(
        definition="6 FLOPs for each parameter that a token uses, but for look-up tables",
        source="arXiv:2001.08361 section 2.1",
        scores="none",
        without=_TABLES,
    ),
    "kaplan": Count(
        definition="products of the blocks, and half of T x T pairs; no head",
        source="arXiv:2001.08361 eq. 2.2",
        products=True,
        without=_TABLES | {"head"},
        share=HALF,
    ),
    "palm": Count(
        definition="6 FLOPs for each parameter that a token uses, and T x T pairs",
        source="arXiv:2204.02311 appendix B, 6N + 12LHQT",
    ),
    "nanogpt": Count(
        definition="as palm, without learned positions",
        source="github.com/karpathy/nanoGPT model.py, estimate_mfu",
        without=frozenset({"embedding.positions"}),
    ),
    "torchtitan": Count(
        definition="as palm, without look-up tables unless the head is tied to them",
        source="github.com/pytorch/torchtitan models/utils.py",
    ),
    "megatron": Count(
        definition="products of blocks and head, a vocabulary in multiples of 128, and half of "
        "T x T pairs; no router",
        source="github.com/NVIDIA/Megatron-LM num_floating_point_operations",
        products=True,
        without=_TABLES | _ROUTER,
        share=HALF,
        padded=128,
    ),
    "megatron-2021": Count(
        definition="products of blocks, four times with full recomputation, and of the head, three "
        "times; a vocabulary in multiples of 128; T x T pairs",
        source="arXiv:2104.04473 eq. 3",
        products=True,
        without=_TABLES | _ROUTER,
        padded=128,
        repeats="always",
    ),
    "foundry": Count(
        definition="as palm; recomputation runs all of it again",
        source="github.com/mosaicml/llm-foundry scripts/train/benchmarking/README.md",
        repeats="all",
    ),
}
"""The conventions beside ``exact``, which counts what is computed."""


def convention(name: Convention, model: Model) -> Count:
    """A convention as it stands for a model.

    ``torchtitan`` subtracts look-up tables only where the head has a weight of its own.
    """
    count = COUNTS[name]
    if name != "torchtitan" or model.head is None or model.head.tied:
        return count
    return msgspec.structs.replace(count, without=_TABLES)
