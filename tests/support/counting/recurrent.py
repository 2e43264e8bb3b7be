"""Recurrences: each keeps a state, and steps through it element by element."""

from __future__ import annotations

from itertools import product

from tests.support.counting.rows import (
    Kept,
    Part,
    Place,
    Scan,
    Tensor,
    Tree,
    convolution,
    learned,
    linear,
    norm,
)

READ = WRITE = 1
"""Multiply-adds of one element of a state."""


def scan(*sizes: int, each: int) -> Scan:
    """So many multiply-adds for every element of a state."""
    return Scan(sum(each for _ in product(*map(range, sizes))))


def _inputs(channels: int, taps: int) -> Kept:
    """A convolution keeps as many inputs of a channel as it has taps."""
    return Kept(channels * taps, span="fixed")


def _state(width: int, fmt: str | None = "fp32") -> Kept:
    return Kept(width, span="fixed", fmt=fmt)


def mamba(part: Tree, place: Place) -> Part:
    """arXiv:2312.00752 section 3."""
    d_model, inner, state = place.d_model, part["d_inner"], part["d_state"]
    taps, rank, bias = part["d_conv"], part["dt_rank"], part.get("bias", False)
    tensors = linear(2 * inner, d_model, bias) + linear(d_model, inner, bias)
    tensors += convolution(inner, taps, part.get("conv_bias", False))
    tensors += linear(rank + state + state, inner) + linear(inner, rank, bias=True)
    tensors += learned(inner * state, inner)
    if part.get("inner_norms"):
        tensors += norm("rms", rank) + norm("rms", state) + norm("rms", state)
    kept = [_inputs(inner, taps), _state(inner * state)]
    return Part(tensors, [], [scan(inner, state, each=WRITE + READ)], kept)


def mamba2(part: Tree, place: Place) -> Part:
    """arXiv:2405.21060 section 7."""
    heads, dim, state = part["n_ssm_heads"], part["ssm_head_dim"], part["d_state"]
    inner, shared = heads * dim, 2 * part["n_groups"] * state
    bias = part.get("bias", False)
    biased = ("in", "out") if bias is True else bias or ()
    tensors = linear(inner + inner + shared + heads, place.d_model, "in" in biased)
    tensors += convolution(inner + shared, part["d_conv"], part.get("conv_bias", False))
    tensors += learned(heads, heads, heads)
    tensors += norm("rms", inner) if part.get("gated_norm", True) else []
    tensors += linear(place.d_model, inner, "out" in biased)
    kept = [_inputs(inner + shared, part["d_conv"]), _state(inner * state)]
    return Part(tensors, [], [scan(heads, dim, state, each=WRITE + READ)], kept)


def gated_delta(part: Tree, place: Place) -> Part:
    """arXiv:2412.06464: what a key reads is corrected, then read with the query."""
    keys, values = part["n_k_heads"] * part["k_dim"], part["n_v_heads"] * part["v_dim"]
    heads, channels = part["n_v_heads"], keys + keys + values
    tensors: list[Tensor] = []
    for out in (keys, keys, values, values, heads, heads):
        tensors += linear(out, place.d_model)
    tensors += convolution(channels, part["d_conv"]) + learned(heads, heads)
    tensors += norm("rms", part["v_dim"]) + linear(place.d_model, values)
    state = (heads, part["k_dim"], part["v_dim"])
    kept = [_inputs(channels, part["d_conv"]), _state(heads * part["k_dim"] * part["v_dim"])]
    return Part(tensors, [], [scan(*state, each=READ + WRITE + READ)], kept)


def kda(part: Tree, place: Place) -> Part:
    """arXiv:2510.26692 section 3: a delta rule whose decay is by channel."""
    d_model, heads, dim, rank = (
        place.d_model,
        part["n_heads"],
        part["head_dim"],
        part.get("gate_rank"),
    )
    width = heads * dim
    tensors = [t for _ in "qkv" for t in linear(width, d_model)]
    tensors += convolution(3 * width, part["d_conv"])
    for _ in ("decay", "gate"):
        low = None if rank is None else linear(rank, d_model) + linear(width, rank)
        tensors += low or linear(width, d_model)
    tensors += linear(heads, d_model) + learned(width, heads)
    tensors += norm("rms", dim) + linear(d_model, width)
    kept = [_inputs(3 * width, part["d_conv"]), _state(heads * dim * dim)]
    return Part(tensors, [], [scan(heads, dim, dim, each=READ + WRITE + READ)], kept)


def lightning(part: Tree, place: Place) -> Part:
    """arXiv:2401.04658 and 2501.08313; its state is kept as the cache is."""
    heads, dim = part["n_heads"], part["head_dim"]
    tensors = [t for _ in ("q", "k", "v", "gate") for t in linear(heads * dim, place.d_model)]
    tensors += norm("rms", heads * dim) + linear(place.d_model, heads * dim)
    kept = [_state(heads * dim * dim, fmt=None)]
    return Part(tensors, [], [scan(heads, dim, dim, each=WRITE + READ)], kept)


def mlstm(part: Tree, place: Place) -> Part:
    """arXiv:2405.04517 section 2.3: a memory, its normaliser and the gates' maximum."""
    d_model, heads, bias = place.d_model, part["n_heads"], part.get("bias", False)
    keys, values = part["d_qk"] // heads, part["d_v"] // heads
    tensors: list[Tensor] = []
    for out in (part["d_qk"], part["d_qk"], part["d_v"], part["d_v"]):
        tensors += linear(out, d_model, bias)
    tensors += linear(heads, d_model, bias=True) + linear(heads, d_model, bias=True)
    tensors += norm("layer" if bias else "layer_no_bias", part["d_v"])
    tensors += linear(d_model, part["d_v"], bias)
    scans = [scan(heads, keys, values, each=WRITE + READ), scan(heads, keys, each=READ)]
    kept = [_state(heads * keys * values), _state(heads * keys), _state(heads)]
    return Part(tensors, [], scans, kept)


def rg_lru(part: Tree, place: Place) -> Part:
    """arXiv:2402.19427 section 2.4; the newest of the convolution's inputs need not be kept."""
    d_model, inner, taps = place.d_model, part["d_inner"], part["d_conv"]
    blocks, dim = part["n_gate_blocks"], part["gate_dim"]
    tensors = linear(inner, d_model, bias=True) + linear(inner, d_model, bias=True)
    tensors += convolution(inner, taps, bias=True) + learned(inner)
    for _ in ("input", "recurrent"):
        tensors += linear(dim, dim, bias=True, copies=blocks, used=blocks)
    tensors += linear(d_model, inner, bias=True)
    return Part(tensors, [], [], [_inputs(inner, taps - 1), _state(inner)])


def short_conv(part: Tree, place: Place) -> Part:
    """arXiv:2511.23404: two gates and the channels that are convolved."""
    d_model, taps, bias = place.d_model, part["d_conv"], part.get("bias", False)
    tensors = linear(3 * d_model, d_model, bias) + linear(d_model, d_model, bias)
    return Part(tensors + convolution(d_model, taps, bias), [], [], [_inputs(d_model, taps)])


def rwkv(part: Tree, place: Place) -> Part:
    """arXiv:2305.13048 section 3.1; numerator, denominator and maximum are kept in fp32."""
    d_model, inner = place.d_model, part["d_inner"]
    tensors = [t for _ in ("key", "value", "receptance") for t in linear(inner, d_model)]
    tensors += learned(d_model, d_model, d_model, inner, inner) + linear(d_model, inner)
    return Part(tensors, [], [], [Kept(d_model, span="fixed"), _state(3 * inner)])


KINDS = {
    "mamba": mamba, "mamba2": mamba2, "gated_delta": gated_delta, "kda": kda,
    "lightning": lightning, "mlstm": mlstm, "rg_lru": rg_lru, "short_conv": short_conv,
    "rwkv": rwkv,
}  # fmt: skip
