"""A model run, and its accounts compared with the run, address by address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from txcalc.accounts import registry
from txcalc.errors import RefusedError
from txcalc.exact.quantity import Number, ratio
from txcalc.model.model import Model, Row
from txcalc.model.parts.mla import Latent
from txcalc.model.rows import Op, Scan, Weight
from txcalc.reference.cache import Cache
from txcalc.reference.counter import Array, Counter, Ids
from txcalc.reference.experts import reached
from txcalc.reference.generation import Generation
from txcalc.reference.network import Network
from txcalc.reference.proof import Equality
from txcalc.reference.site import How, Scores, number
from txcalc.report.report import Figures
from txcalc.workload.passes import Mla, default_form
from txcalc.workload.question import Question

ROUNDING = 1e-9
"""What two outputs of one computation may differ by, in 64-bit numbers."""
FLOPS = 2
"""FLOPs of one multiply-add."""
_BYTES = {"cache": 2, "fp32": 4}
"""Bytes of one element: the cache is asked for in fp16."""
_MASKED: tuple[Scores, ...] = ("full", "square")
"""Pairs that are multiplied beside those that a query attends to."""


class Lengths(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of each sequence, of the encoder beside a decoder, and sequences at once."""

    ctx: int
    source: int | None
    batch: int


class Equalities:
    """One model run with random weights and random tokens; each method yields equalities."""

    def __init__(self, model: Model, lengths: Lengths) -> None:
        self._model, self._lengths = model, lengths
        self._network = Network(model)
        rng = np.random.default_rng(1)
        vocab, batch = number(self._network.vocab), lengths.batch
        self._ids: Ids = rng.integers(0, vocab, (batch, lengths.ctx + 1))
        self._source: Ids | None = None
        if lengths.source is not None:
            self._source = rng.integers(0, vocab, (batch, lengths.source))

    def every(self) -> Iterator[Equality]:
        """All that can be asked of the model."""
        yield from self.prefill()
        if self._model.has_decoder:
            yield from self.decode()
            yield from self.cache()
            yield from self.generation()
        yield from reached(self._model)

    def stored(self, counter: Counter) -> Iterator[Equality]:
        """Elements of all tensors, each of which a pass uses; one that it does not is named."""
        parameters, buffers = self._network.weights.stored(self._model, counter.buffers)
        figures = self._figures("params")
        for address, run in (("params.total", parameters), ("params.buffers", buffers)):
            yield _compared("stored", address, run, figures)
        rows = {row.address for row in self._model.text_rows if _is_run(row)}
        for address in sorted(rows - counter.used):
            yield Equality(about="stored", address=f"{address} is used", run=0, accounted=1)

    def prefill(self) -> Iterator[Equality]:
        """What is stored, and FLOPs of a pass by row with each choice of pairs."""
        counter = Counter()
        visible = self._prefilled(counter, How())
        yield from self.stored(counter)
        yield from self._rows("prefill, causal", counter, phase="prefill", scores="causal")
        for scores in _MASKED:
            counter, about = Counter(), f"prefill, {scores}"
            output = self._prefilled(counter, How(scores=scores))
            yield from self._rows(about, counter, phase="prefill", scores=scores)
            yield _alike(about, "output as of causal", output, visible)
        if self._has_latents:
            counter, how = Counter(), How(mla="absorbed")
            output = self._prefilled(counter, how)
            about = "prefill, absorbed"
            yield from self._rows(about, counter, phase="prefill", scores="causal", mla="absorbed")
            yield _alike(about, "output as expanded", output, visible)

    def decode(self) -> Iterator[Equality]:
        """FLOPs of a step at ctx by row, whose output is that of the full pass."""
        whole = self._network.run(self._ids[:, : self._lengths.ctx], source=self._source)
        for mla in self._forms:
            cache, counter = self._cached(mla, self._lengths.ctx - 1), Counter()
            last = self._ids[:, self._lengths.ctx - 1 : self._lengths.ctx]
            output = self._network.run(last, cache=cache, how=How(mla=mla), counter=counter)
            about = f"decode, {mla}" if self._has_latents else "decode"
            stated = None if mla == "absorbed" else mla  # which a step takes where none is chosen
            yield from self._rows(about, counter, phase="decode", scores="causal", mla=stated)
            yield _alike(about, "output as of the full pass", output, whole[:, -1:])

    def cache(self) -> Iterator[Equality]:
        """Bytes kept at ctx by row, and what one token more writes and adds."""
        cache = self._cached(default_form("decode"), self._lengths.ctx)
        figures, batch = self._figures("kvcache"), self._lengths.batch
        before = cache.sizes(_BYTES)
        for name, size in before.items():
            yield _compared("cache", f"kvcache.rows.{name}", size, figures)
        for address in figures:
            if address.startswith("kvcache.rows.") and address.rpartition(".")[2] not in before:
                yield _compared("cache", address, 0, figures)
        yield _compared("cache", "kvcache.total", sum(before.values()), figures)
        yield _compared("cache", "kvcache.sequence", ratio(sum(before.values()), batch), figures)
        counter, how = Counter(), How(mla=default_form("decode"))
        self._network.run(self._ids[:, -1:], cache=cache, how=how, counter=counter)
        grown = sum(cache.sizes(_BYTES).values()) - sum(before.values())
        yield _compared("cache", "kvcache.growth", ratio(grown, batch), figures)
        written = ratio(counter.written * _BYTES["cache"], batch)
        yield _compared("cache", "kvcache.token", written, figures)

    def generation(self) -> Iterator[Equality]:
        """The same tokens both ways, how many are processed for them, and the blocks' FLOPs."""
        prompt = (self._lengths.ctx + 1) // 2
        new = self._lengths.ctx - prompt
        try:
            figures = self._figures("generation", prompt=prompt, new=new)
        except RefusedError:
            return
        source = None if self._source is None else self._source[:1]
        ways = Generation(self._network, self._ids[:1, :prompt], source)
        naive, cached, prefilled = ways.naive(new), ways.cached(new), ways.with_prefill(new)
        for address, way in (
            ("generation.{}.naive", naive),
            ("generation.{}.cached", cached),
            ("generation.with_prefill.{}.naive", naive),
            ("generation.with_prefill.{}.cached", prefilled),
        ):
            yield _compared("generation", address.format("tokens"), way.processed, figures)
            flops = FLOPS * way.products
            yield _compared("generation", address.format("flops"), flops, figures)
        for name, way in (("cached", cached), ("with prefill", prefilled)):
            same = sum(a == b for a, b in zip(naive.made, way.made, strict=True))
            yield Equality(
                about="generation", address=f"tokens as of naive, {name}", run=same, accounted=new
            )

    def _rows(self, about: str, counter: Counter, **asked: Any) -> Iterator[Equality]:
        """FLOPs of each row, of one layer as the account states them, and of all."""
        figures = self._figures("flops", **asked)
        total = FLOPS * sum(counter.products.values())
        left = dict(counter.products)
        for row in self._model.text_rows:
            address = f"flops.{row.address}"
            if _is_product(row) and address in figures:
                layers = 1 if row.layers is None else int(row.layers.count.value)
                done = ratio(FLOPS * left.pop(row.address, 0), max(layers, 1))
                if done or (layers and figures[address].value):
                    yield _compared(about, address, done, figures)
        for address, products in left.items():
            yield Equality(about=about, address=address, run=FLOPS * products, accounted=0)
        yield _compared(about, "flops.total", total, figures)

    def _prefilled(self, counter: Counter, how: How) -> Array:
        ids = self._ids[:, : self._lengths.ctx]
        return self._network.run(ids, source=self._source, how=how, counter=counter)

    def _cached(self, mla: Mla, tokens: int) -> Cache:
        """A cache of so many tokens, filled in one pass."""
        cache, how = Cache(), How(mla="expanded" if mla == "expanded" else "reexpand")
        self._network.run(self._ids[:, :tokens], cache=cache, source=self._source, how=how)
        return cache

    def _figures(self, account: str, **asked: Any) -> Figures:
        """An account's figures at the lengths that are run."""
        lengths = self._lengths
        question = {"ctx": lengths.ctx, "source": lengths.source, "batch": lengths.batch}
        if account == "generation":
            question.pop("ctx"), question.pop("batch")
        return registry.account(account, self._model, Question(**question | asked)).figures

    @property
    def _has_latents(self) -> bool:
        return any(isinstance(block.attention, Latent) for block in self._model.blocks.values())

    @property
    def _forms(self) -> tuple[Mla, ...]:
        return ("expanded", "absorbed", "reexpand") if self._has_latents else ("expanded",)


def _compared(about: str, address: str, run: Number, figures: Figures) -> Equality:
    """What was run beside the account's figure."""
    return Equality(about=about, address=address, run=run, accounted=figures[address].value)


def _alike(about: str, what: str, output: Array, other: Array) -> Equality:
    """The largest difference of two outputs, relative to the larger of 1 and the output."""
    difference = float(np.max(np.abs(output - other) / np.maximum(1.0, np.abs(other))))
    return Equality(about=about, address=what, run=difference, accounted=0, within=ROUNDING)


def _is_product(row: Row) -> bool:
    match row.declared:
        case Weight(use=use):
            return use == "matmul"
        case Op() | Scan():
            return True
        case _:
            return False


def _is_run(row: Row) -> bool:
    """Whether a pass has to use a row's own tensor: one that is tied has none."""
    if not isinstance(row.declared, Weight) or row.component == "mtp" or row.declared.tied:
        return False
    is_there = row.layers is None or row.layers.count.value > 0
    return is_there and row.declared.stream != "none"
