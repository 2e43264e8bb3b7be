"""Multi-head latent attention in its three forms: expanded, expanded again, absorbed."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts.mla import Latent
from txcalc.reference.attend import attend
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import refuse, run, sigmoid
from txcalc.reference.site import Site, number


@run.register
def _(part: Latent, x: Array, site: Site) -> Array:
    """arXiv:2405.04434 section 2.1; absorbed: the same, end of section 2.1.2."""
    if part.indexer is not None:
        refuse("mla", "indexer")
    if part.shared_top_k is not None:
        refuse("mla", "shared_top_k")
    nope, rope, gate = _queries(part, x, site)
    new, latents, rotary = _latents(part, x, site)
    sinks = site.weight("sinks", part.n_heads) if part.sinks else None
    scale = (nope.shape[-1] + rope.shape[-1]) ** -0.5
    k_up = site.weight("k_up", part.kv_rank, part.n_heads, part.nope_dim)
    v_up = site.weight("v_up", part.kv_rank, part.n_heads, part.v_dim)
    if site.how.mla == "absorbed":
        absorbed = site.product("k_up", "bthn,rhn->bthr", nope, k_up)
        q, k = np.concatenate([absorbed, rope], -1), np.concatenate([latents, rotary], -1)
        mixed = attend(site, "scores", q, k[:, :, None], latents[:, :, None],
                       window=part.window, sinks=sinks, scale=scale)  # fmt: skip
        out = site.product("v_up", "bthr,rhv->bthv", mixed, v_up)
    else:
        k, v = _expanded(part, new, latents, k_up, v_up, site)
        shared = np.broadcast_to(rotary[:, :, None], (*k.shape[:3], rotary.shape[-1]))
        q, k = np.concatenate([nope, rope], -1), np.concatenate([k, shared], -1)
        out = attend(site, "scores", q, k, v, window=part.window, sinks=sinks, scale=scale)
    if part.gate != "none":
        out = out * sigmoid(gate if gate is not None else _gate(part, x, site))
    return site.linear("o", out, x.shape[-1], bias=part.bias or part.o_bias, inputs=2)


def _queries(part: Latent, x: Array, site: Site) -> tuple[Array, Array, Array | None]:
    """Channels without position, rotary ones, and a gate that the projection makes as well."""
    rope = 0 if part.rope_dim is None else number(part.rope_dim)
    nope = number(part.nope_dim)
    if part.q_rank is None:
        q = site.linear("q", x, part.n_heads, nope + rope)
    else:
        down = site.linear("q_down", x, part.q_rank, bias=part.bias)
        latent = site.norm("q_norm", down, "rms")
        width = nope + rope
        if part.gate == "query":
            latent, width = np.concatenate([down, latent], -1), width + number(part.v_dim)
        q = site.linear("q_up", latent, part.n_heads, width)
    gate = q[..., nope + rope :] if part.gate == "query" else None
    return q[..., :nope], site.places.rotated(q[..., nope : nope + rope]), gate


def _latents(part: Latent, x: Array, site: Site) -> tuple[Array, Array, Array]:
    """The latents of new tokens, and latents and rotary keys of all that are in reach."""
    rank, rope = number(part.kv_rank), 0 if part.rope_dim is None else number(part.rope_dim)
    down = site.linear("kv_down", x, rank + rope, bias=part.bias)
    new, rotary = site.norm("kv_norm", down[..., :rank], "rms"), down[..., rank:]
    latents = _within(part, site.extended("latent", new, part.window), x)
    if part.rope_dim is None:
        return new, latents, np.zeros((*latents.shape[:2], 0))
    if part.rope_norm:
        rotary = site.norm("rope_norm", rotary, "rms")
    rotary = site.places.rotated(rotary[:, :, None])[:, :, 0]
    return new, latents, _within(part, site.extended("rotary_key", rotary, part.window), x)


def _within(part: Latent, kept: Array, x: Array) -> Array:
    """Of the tokens kept those that some query of ``x`` attends to."""
    if part.window is None:
        return kept
    return kept[:, -(number(part.window) + x.shape[1] - 1) :]


def _expanded(
    part: Latent, new: Array, latents: Array, k_up: Array, v_up: Array, site: Site
) -> tuple[Array, Array]:
    """Keys and values of the heads: of new tokens beside those expanded before, or of all again."""
    made = latents if site.how.mla == "reexpand" else new
    pair = []
    for name, weight in (("k_up", k_up), ("v_up", v_up)):
        heads = site.product(name, "btr,rhn->bthn", made, weight)
        if site.how.mla == "expanded":
            heads = site.extended(f"expanded.{name}", heads, part.window, "none")
            heads = heads[:, -latents.shape[1] :]
        pair.append(heads)
    return pair[0], pair[1]


def _gate(part: Latent, x: Array, site: Site) -> Array:
    """A gate of the output for each head or each channel."""
    if part.gate == "head":
        return site.linear("gate", x, part.n_heads)[..., None]
    return site.linear("gate", x, part.n_heads, part.v_dim)
