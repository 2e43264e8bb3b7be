"""The question's side of an account: what is run, and how many tokens and pairs that makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from txcalc.exact.counting import series
from txcalc.exact.quantity import ONE, TWO, ZERO, Letter, Quantity, const, defined, least, product
from txcalc.model.rows import Op, Scan, Weight
from txcalc.workload.entries import complete, met

Phase = Literal["token", "prefill", "decode", "train"]
Scores = Literal["full", "causal", "square", "none"]
Logits = Literal["all", "last"]
Mla = Literal["expanded", "absorbed", "reexpand"]
"""How latent attention gets at keys and values: expanded once per token, never (scores against the
latents), or all of the past again at each step."""

Pairs = Callable[[Quantity | None], Quantity]
"""From a window to the query-key pairs of a pass."""

Entries = Callable[[Quantity, Quantity | None], Quantity]
"""From a block and the entries that a query meets at most to the query-entry pairs of a pass."""


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """What one stack is given in one go: every cost is a fold of rows over these."""

    tokens: Quantity
    pairs: Pairs
    chunked: Pairs | None = None
    """Pairs within chunks of a size; None where they count as in a window of that size."""
    entries: Entries = lambda *_: ZERO
    sequences: Quantity = ZERO
    source_tokens: Quantity = ZERO
    cross_pairs: Quantity = ZERO
    logits: Quantity = ZERO
    mla: Mla = "expanded"
    past: Pairs | None = None
    """Tokens whose latents steps find in a window; None where a pass makes them all."""

    def matmul(self, weight: Weight, per_mac: Quantity) -> Quantity:
        """Cost of a weight's product, in the unit of ``per_mac``; of other tensors, zero."""
        if weight.use != "matmul":
            return product(ZERO, per_mac)
        return product(per_mac, weight.used, weight.repeats, weight.each, self.streamed(weight))

    def without_weight(self, op: Op | Scan, per_mac: Quantity) -> Quantity:
        """Cost of an attention product or of a recurrence, in the unit of ``per_mac``."""
        if isinstance(op, Scan):
            return product(per_mac, op.width, self.tokens)
        return product(per_mac, op.heads, self.widths(op), self._pairs_of(op))

    def _pairs_of(self, op: Op) -> Quantity:
        if op.stream != "own":
            return self.cross_pairs
        if op.chunk is not None:
            return (self.chunked or self.pairs)(op.chunk)
        if op.block is not None:
            return self.entries(op.block, op.window)
        return self.pairs(op.window)

    def widths(self, op: Op) -> Quantity:
        """Multiply-adds of one head and query-key pair, in the form that the pass takes."""
        d_qk, d_v = op.latent if op.latent and self.mla == "absorbed" else (op.d_qk, op.d_v)
        return d_qk + d_v

    def streamed(self, weight: Weight) -> Quantity:
        """Tokens that this pass multiplies a weight with."""
        match weight.stream:
            case "own":
                return self.tokens
            case "source":
                return self.source_tokens
            case "both":
                return self.tokens + self.source_tokens
            case "sequence":
                return self.sequences
            case "none":
                return ZERO
            case "latent":
                if self.mla == "reexpand" and self.past is not None:
                    return self.past(weight.window)
                return self.tokens


NOTHING = Pass(tokens=ZERO, pairs=lambda _: ZERO)


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A phase at ``ctx`` tokens (and ``source`` tokens of the encoder) for ``batch`` sequences."""

    phase: Phase
    ctx: Letter
    source: Letter
    batch: Letter
    scores: Scores = "full"
    logits: Logits = "all"
    mla: Mla | None = None

    @property
    def form(self) -> Mla:
        """The form of latent attention: by default absorbed in decode, expanded elsewhere."""
        return self.mla or ("absorbed" if self.phase == "decode" else "expanded")

    def decoder(self) -> Pass:
        """What the decoder runs, its head included."""
        if self.phase in ("token", "decode"):
            tokens = ONE if self.phase == "token" else self.batch
            return Pass(
                tokens=tokens,
                pairs=lambda window: product(tokens, self._keys_of_one(window)),
                chunked=self._chunked(tokens),
                entries=lambda *entry: product(tokens, self._entries_of_one(*entry)),
                sequences=tokens,
                cross_pairs=self._unless_none(product(tokens, self.source)),
                logits=tokens,
                mla=self.form,
                past=lambda window: product(tokens, _keys(self.ctx, window)),
            )
        tokens = product(self.batch, self.ctx)
        return Pass(
            tokens=tokens,
            pairs=lambda window: product(tokens, self._mean_keys(window)),
            chunked=self._chunked(tokens),
            entries=lambda *entry: product(tokens, self._mean_entries(*entry)),
            sequences=self.batch,
            source_tokens=product(self.batch, self.source),
            cross_pairs=self._unless_none(product(tokens, self.source)),
            logits=tokens if self.logits == "all" else self.batch,
            mla=self.form,
        )

    def encoder(self, length: Letter) -> Pass:
        """What an encoder runs over ``length`` tokens; nothing where the phase has them behind."""
        if self.phase in ("token", "decode"):
            return NOTHING
        tokens = product(self.batch, length)
        return Pass(
            tokens=tokens,
            pairs=lambda window: product(tokens, self._two_sided_keys(length, window)),
            entries=lambda *entry: product(tokens, self._unless_none(complete(length, *entry))),
            sequences=self.batch,
            logits=tokens if self.logits == "all" else self.batch,
        )

    def _keys_of_one(self, window: Quantity | None) -> Quantity:
        if self.phase == "token" and self.scores in ("causal", "square"):
            return self._mean_keys(window)
        return self._unless_none(_keys(self.ctx, window))

    def _mean_keys(self, window: Quantity | None) -> Quantity:
        match self.scores:
            case "none":
                return ZERO
            case "square":
                return self.ctx
            case "full":
                return _keys(self.ctx, window)
            case "causal" if window is None:
                return _met((self.ctx + ONE) / TWO)
            case "causal":
                pairs = series(ZERO, window, ONE, self.ctx)
                return _met(pairs / self.ctx, window)

    def _chunked(self, tokens: Quantity) -> Pairs | None:
        """Pairs that a mask of chunks leaves visible."""
        if self.scores != "causal":
            return None
        keys = self._keys_in_chunk if self.phase == "decode" else self._mean_keys_in_chunks
        return lambda chunk: product(tokens, ZERO if chunk is None else keys(chunk))

    def _keys_in_chunk(self, chunk: Quantity) -> Quantity:
        behind = product(chunk, (self.ctx - ONE) // chunk)
        return _met(self.ctx - behind, chunk)

    def _mean_keys_in_chunks(self, chunk: Quantity) -> Quantity:
        full = self.ctx // chunk
        rest = self.ctx - product(full, chunk)
        pairs = product(full, series(ZERO, None, ONE, chunk)) + series(ZERO, None, ONE, rest)
        return _met(pairs / self.ctx, chunk)

    def _entries_of_one(self, block: Quantity, cap: Quantity | None) -> Quantity:
        if self.phase == "token" and self.scores in ("causal", "square"):
            return self._mean_entries(block, cap)
        return self._unless_none(complete(self.ctx, block, cap))

    def _mean_entries(self, block: Quantity, cap: Quantity | None) -> Quantity:
        match self.scores:
            case "none":
                return ZERO
            case "square":
                return complete(self.ctx, block, None)
            case "full":
                return complete(self.ctx, block, cap)
            case "causal":
                return met(block, cap, ONE, self.ctx) / self.ctx

    def _two_sided_keys(self, length: Letter, window: Quantity | None) -> Quantity:
        if self.scores == "causal" and window is not None:
            side = (window - ONE) // TWO
            pairs = length + product(TWO, series(ZERO, side, ONE, length - ONE))
            return _met(pairs / length, window)
        if self.scores == "square" or window is None:
            return self._unless_none(length)
        return self._unless_none(_keys(length, window))

    def _unless_none(self, keys: Quantity) -> Quantity:
        return ZERO if self.scores == "none" else keys


def _keys(length: Letter, window: Quantity | None) -> Quantity:
    return length if window is None else _met(least(length, window), window)


def _met(keys: Quantity, window: Quantity | None = None) -> Letter:
    """The letter for the (mean) number of keys that a query meets, told apart by its window."""
    path = window.path if isinstance(window, Letter) else ""
    return defined("keys", keys, path, "keys that a query meets, on average over the pass")


def per_multiply_add(*, macs: bool, phase: Phase) -> Quantity:
    """What one multiply-add counts: 2 FLOPs or 1 MAC; three times that in training.

    The backward pass costs twice the forward: arXiv:2001.08361, section 2.1.
    """
    once = ONE.counted_as("MACs") if macs else TWO.counted_as("FLOPs")
    return product(const(3), once) if phase == "train" else once
