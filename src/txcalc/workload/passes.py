"""What is run: a phase over lengths and a batch, and the tokens and pairs that this makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from txcalc.exact.quantity import ONE, TWO, ZERO, Letter, Quantity, const, product
from txcalc.workload.reach import ALL, Attends, Source

Phase = Literal["token", "prefill", "decode", "train"]
Scores = Literal["full", "causal", "square", "none"]
Logits = Literal["all", "last"]
Mla = Literal["expanded", "absorbed", "reexpand"]
"""How latent attention gets at keys and values: expanded once per token, never (scores against the
latents), or all of the past again at each step."""

Stream = Literal["own", "source", "latent", "both", "sequence", "patches", "projected", "none"]
"""Whose tokens a row works on: the stack's own; the encoder's, in cross-attention; both; the cached
latents', which an implementation may expand again at each step; one token of each sequence; of a
tower the patches alone, or the tokens that its projector makes of them; or nobody's, where a path
is never run."""

Keys = Callable[[Attends], Quantity]
"""From a reach to tokens or query-key pairs of a pass."""


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """What one stack runs in one go: every cost is a fold of rows over these."""

    tokens: Quantity
    attended: Keys
    """Query-key pairs of the stack's own tokens."""
    sequences: Quantity = ZERO
    source_tokens: Quantity = ZERO
    cross_pairs: Quantity = ZERO
    logits: Quantity = ZERO
    patches: Quantity = ZERO
    projected: Quantity = ZERO
    mla: Mla = "expanded"
    past: Keys | None = None
    """Tokens whose latents steps find in reach; None where a pass makes them all."""

    def pairs(self, reach: Attends | Source) -> Quantity:
        """Query-key pairs, with the pass's own keys or with the encoder's."""
        return self.cross_pairs if isinstance(reach, Source) else self.attended(reach)

    def multiplied(self, stream: Stream, reach: Attends = ALL) -> Quantity:
        """Tokens of a stream; of latents those that this pass expands, ``reach`` of them kept."""
        match stream:
            case "own":
                return self.tokens
            case "source":
                return self.source_tokens
            case "both":
                return self.tokens + self.source_tokens
            case "sequence":
                return self.sequences
            case "patches":
                return self.patches
            case "projected":
                return self.projected
            case "none":
                return ZERO
            case "latent":
                if self.mla == "reexpand" and self.past is not None:
                    return self.past(reach)
                return self.tokens


NOTHING = Pass(tokens=ZERO, attended=lambda _: ZERO)


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
        return self.mla or default_form(self.phase)

    def decoder(self) -> Pass:
        """What the decoder runs, its head included."""
        if self.phase in ("token", "decode"):
            tokens = ONE if self.phase == "token" else self.batch
            keys = self._mean_keys if self.phase == "token" else self._keys
            return Pass(
                tokens=tokens,
                attended=lambda reach: product(tokens, keys(reach)),
                sequences=tokens,
                cross_pairs=self._unless_none(product(tokens, self.source)),
                logits=tokens,
                mla=self.form,
                past=lambda reach: product(tokens, reach.one(self.ctx)),
            )
        tokens = product(self.batch, self.ctx)
        return Pass(
            tokens=tokens,
            attended=lambda reach: product(tokens, self._mean_keys(reach)),
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
            attended=lambda reach: product(tokens, self._two_sided_keys(reach, length)),
            sequences=self.batch,
            logits=tokens if self.logits == "all" else self.batch,
        )

    def _keys(self, reach: Attends) -> Quantity:
        """Keys of one query at ctx."""
        if self.scores == "causal":
            return reach.masked(self.ctx)
        return self._unless_none(reach.one(self.ctx))

    def _mean_keys(self, reach: Attends) -> Quantity:
        """Keys of a query, averaged over the positions up to ctx."""
        match self.scores:
            case "none":
                return ZERO
            case "square":
                return reach.square(self.ctx)
            case "full":
                return reach.one(self.ctx)
            case "causal":
                return reach.mean(self.ctx)

    def _two_sided_keys(self, reach: Attends, length: Letter) -> Quantity:
        """Keys of a query that sees both directions of ``length`` tokens, averaged."""
        match self.scores:
            case "none":
                return ZERO
            case "square":
                return reach.square(length)
            case "full":
                return reach.one(length)
            case "causal":
                return reach.both_ways(length)

    def _unless_none(self, keys: Quantity) -> Quantity:
        return ZERO if self.scores == "none" else keys


def default_form(phase: Phase) -> Mla:
    """The form that a phase takes where none is chosen: a step works on the cached latents."""
    return "absorbed" if phase == "decode" else "expanded"


def per_multiply_add(*, macs: bool, phase: Phase) -> Quantity:
    """What one multiply-add counts: 2 FLOPs or 1 MAC; three times that in training.

    The backward pass costs twice the forward: arXiv:2001.08361, section 2.1.
    """
    once = ONE.counted_as("MACs") if macs else TWO.counted_as("FLOPs")
    return product(const(3), once) if phase == "train" else once
