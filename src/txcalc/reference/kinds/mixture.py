"""Mixtures of experts: each token runs those that a router picks."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts.ffn import Mixture
from txcalc.reference.counter import Array, Ids
from txcalc.reference.kinds.base import refuse, relu, run, sigmoid, silu
from txcalc.reference.site import Site, Size, number


@run.register
def _(part: Mixture, x: Array, site: Site) -> Array:
    """arXiv:1701.06538; shared experts: arXiv:2401.06066 section 3."""
    if part.n_zero is not None:
        refuse("moe", "experts without weights (n_zero)")
    if part.top_k is None:
        refuse("moe", "no top_k")
    tokens = x.reshape(-1, x.shape[-1])
    out = _routed(part, tokens, site)
    if part.n_shared is not None:
        out = out + _shared(part, tokens, site)
    return out.reshape(x.shape)


def picked(scores: Array, top_k: int) -> Ids:
    """The best experts of each token, (tokens, top_k)."""
    best: Ids = np.argsort(-scores, axis=-1, kind="stable")[:, :top_k]
    return best


def _routed(part: Mixture, tokens: Array, site: Site) -> Array:
    """The sum of the experts that each token uses, by its scores."""
    scores = _scores(part, tokens, site)
    assert part.top_k is not None
    best = picked(scores, number(part.top_k))
    inner = tokens
    if part.d_latent is not None:
        inner = site.linear("latent_down", tokens, part.d_latent, bias=part.shared_bias)
    experts = _Experts(part, site, "", part.n_experts, inner.shape[-1], part.d_expert, part.bias)
    out = np.zeros_like(inner)
    for expert in range(number(part.n_experts)):
        rows, _ = np.nonzero(best == expert)
        if rows.size:
            out[rows] += sigmoid(scores[rows, expert, None]) * experts.run(expert, inner[rows])
    if part.d_latent is not None:
        return site.linear("latent_up", out, tokens.shape[-1], bias=part.shared_bias)
    return out


def _scores(part: Mixture, tokens: Array, site: Site) -> Array:
    """A score for each token and expert; without a router the token's own channels."""
    if part.router:
        scores = site.linear("router", tokens, part.n_experts)
    else:
        scores = tokens[:, np.arange(number(part.n_experts)) % tokens.shape[1]]
    if not part.router_bias:
        return scores
    stored = site.buffer if part.router_bias == "buffer" else site.weight
    return scores + stored("router_bias", part.n_experts)


def _shared(part: Mixture, tokens: Array, site: Site) -> Array:
    """The experts that every token uses, behind their gates."""
    assert part.n_shared is not None
    n_shared, width = number(part.n_shared), part.d_shared or part.d_expert
    experts = _Experts(part, site, "shared_", n_shared, tokens.shape[-1], width, part.shared_bias)
    gates = np.ones((len(tokens), n_shared))
    if part.shared_gate:
        outputs = n_shared if part.shared_gate == "each" else 1
        gates = gates * sigmoid(site.linear("shared_gate_score", tokens, outputs))
    made = [gates[:, e, None] * experts.run(e, tokens) for e in range(n_shared)]
    total: Array = np.sum(made, axis=0)
    return total


class _Experts:
    """Networks of one shape side by side: their tensors have an axis of experts first."""

    def __init__(
        self, part: Mixture, site: Site, prefix: str, n: Size, d_in: int, d_ff: Size, bias: bool
    ) -> None:  # fmt: skip
        self._gated, self._site, self._prefix = part.expert == "glu", site, prefix
        self._n, self._bias, self._d_in, self._d_ff = n, bias, d_in, d_ff

    def run(self, expert: int, x: Array) -> Array:
        """One of them on its tokens."""
        hidden = self._linear("up", expert, x, self._d_ff)
        if self._gated:
            hidden = hidden * silu(self._linear("gate", expert, x, self._d_ff))
        else:
            hidden = relu(hidden)
        return self._linear("down", expert, hidden, self._d_in)

    def _linear(self, name: str, expert: int, x: Array, outputs: Size) -> Array:
        site, name = self._site, self._prefix + name
        weight = site.weight(name, self._n, x.shape[-1], outputs)[expert]
        y = site.counter.linear(site.address(name), x, weight, 1)
        return y + site.weight(f"{name}_bias", self._n, outputs)[expert] if self._bias else y
