"""The question's side of an account: what is run, and how many tokens and pairs that makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from txcalc.inventory import Op, Scan, Stream, Weight
from txcalc.quantity import (
    ONE,
    TWO,
    ZERO,
    Letter,
    Quantity,
    const,
    defined,
    least,
    product,
    series,
)

Phase = Literal["token", "prefill", "decode", "train"]
Scores = Literal["full", "causal", "square", "none"]
Logits = Literal["all", "last"]
Mla = Literal["expanded", "absorbed", "reexpand"]
"""How latent attention gets at keys and values: expanded once per token, never (scores against the
latents), or all of the past again at each step."""

Pairs = Callable[[Quantity | None], Quantity]
"""From a window to the query-key pairs of a pass."""


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """What one stack is given in one go: every cost is a fold of rows over these."""

    tokens: Quantity
    pairs: Pairs
    sequences: Quantity = ZERO
    source_tokens: Quantity = ZERO
    cross_pairs: Quantity = ZERO
    logits: Quantity = ZERO
    mla: Mla = "expanded"
    past: Quantity | None = None
    """Tokens whose latents a step finds, itself included; None where it makes them all."""

    def matmul(self, weight: Weight, per_mac: Quantity) -> Quantity:
        """Cost of a weight's product, in the unit of ``per_mac``; of other tensors, zero."""
        if weight.use != "matmul":
            return product(ZERO, per_mac)
        return product(
            per_mac, weight.used, weight.repeats, weight.each, self.streamed(weight.stream)
        )

    def without_weight(self, op: Op | Scan, per_mac: Quantity) -> Quantity:
        """Cost of an attention product or of a recurrence, in the unit of ``per_mac``."""
        if isinstance(op, Scan):
            return product(per_mac, op.width, self.tokens)
        pairs = self.pairs(op.window) if op.stream == "own" else self.cross_pairs
        return product(per_mac, op.heads, self.widths(op), pairs)

    def widths(self, op: Op) -> Quantity:
        """Multiply-adds of one head and query-key pair, in the form that the pass takes."""
        d_qk, d_v = op.latent if op.latent and self.mla == "absorbed" else (op.d_qk, op.d_v)
        return d_qk + d_v

    def streamed(self, stream: Stream) -> Quantity:
        """Tokens of a stream that this pass multiplies."""
        match stream:
            case "own":
                return self.tokens
            case "source":
                return self.source_tokens
            case "sequence":
                return self.sequences
            case "none":
                return ZERO
            case "latent":
                if self.mla == "reexpand" and self.past is not None:
                    return self.past
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
                sequences=tokens,
                cross_pairs=self._unless_none(product(tokens, self.source)),
                logits=tokens,
                mla=self.form,
                past=product(tokens, self.ctx),
            )
        tokens = product(self.batch, self.ctx)
        return Pass(
            tokens=tokens,
            pairs=lambda window: product(tokens, self._mean_keys(window)),
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
                return defined("keys", (self.ctx + ONE) / TWO)
            case "causal":
                pairs = series(ZERO, window, ONE, self.ctx)
                return defined("keys", pairs / self.ctx, _owner(window))

    def _two_sided_keys(self, length: Letter, window: Quantity | None) -> Quantity:
        if self.scores == "causal" and window is not None:
            side = (window - ONE) // TWO
            pairs = length + product(TWO, series(ZERO, side, ONE, length - ONE))
            return defined("keys", pairs / length, _owner(window))
        if self.scores == "square" or window is None:
            return self._unless_none(length)
        return self._unless_none(_keys(length, window))

    def _unless_none(self, keys: Quantity) -> Quantity:
        return ZERO if self.scores == "none" else keys


def _keys(length: Letter, window: Quantity | None) -> Quantity:
    return length if window is None else defined("keys", least(length, window), _owner(window))


def _owner(window: Quantity) -> str:
    return window.path if isinstance(window, Letter) else ""


def per_multiply_add(*, macs: bool, phase: Phase) -> Quantity:
    """What one multiply-add counts: 2 FLOPs or 1 MAC; three times that in training.

    The backward pass costs twice the forward: arXiv:2001.08361, section 2.1.
    """
    once = ONE.counted_as("MACs") if macs else TWO.counted_as("FLOPs")
    return product(const(3), once) if phase == "train" else once
