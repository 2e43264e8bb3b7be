"""Attention with keys and values for every head or group of heads, and experts of it."""

from __future__ import annotations

from tests.support.counting.rows import (
    Kept,
    Look,
    Part,
    Place,
    Reach,
    Tensor,
    Tree,
    convolution,
    learned,
    linear,
    norm,
)


def sizes(part: Tree, d_model: int) -> tuple[int, int, int, int]:
    """Query heads, KV heads, and the widths of a query and of a value."""
    heads = part["n_heads"]
    dim = part.get("head_dim") or d_model // heads
    return heads, part.get("n_kv_heads", heads), dim, part.get("v_dim", dim)


def attention(part: Tree, place: Place) -> Part:
    """arXiv:1706.03762, 2305.13245: every query head with the keys of its group."""
    heads, kv, dim, v_dim = sizes(part, place.d_model)
    bias = part.get("bias", False)
    biased = ("q", "k", "v", "o", "gate") if bias is True else bias or ()
    reads, reads_keys = (part.get("d_in", width) for width in (place.d_model, place.keys_width))
    tensors = linear(heads * dim, reads, "q" in biased)
    tensors += linear(place.d_model, heads * v_dim, "o" in biased)
    if gated := part.get("gated"):
        tensors += linear(heads if gated == "head" else heads * dim, reads, "gate" in biased)
    own = not part.get("shares_kv")
    if own:
        stream = "source" if place.cross else "both" if part.get("merged") else "own"
        tensors += linear(kv * dim, reads_keys, "k" in biased, stream=stream)
        if not part.get("k_is_v"):
            tensors += linear(kv * v_dim, reads_keys, "v" in biased, stream=stream)
    tensors += _norms(part, heads * dim, kv * dim if own else 0, dim)
    if part.get("sinks"):
        tensors += learned(heads)
    if part.get("differential"):
        tensors += learned(dim, dim, dim, dim)
    looks, kept = _at_keys(part, place)
    found = Part(tensors, looks, [], kept if own else [])
    return found + indexer(part["indexer"], place) if "indexer" in part else found


def _norms(part: Tree, q_width: int, k_width: int, dim: int) -> list[Tensor]:
    """Of queries, and of keys where there are some: of each head alike, or of every channel."""
    kind = part.get("qk_norm_kind", "rms")
    match part.get("qk_norm", "none"):
        case "head":
            return norm(kind, dim) + (norm(kind, dim) if k_width else [])
        case "width":
            return norm(kind, q_width) + (norm(kind, k_width) if k_width else [])
        case _:
            return []


def _at_keys(part: Tree, place: Place) -> tuple[list[Look], list[Kept]]:
    heads, kv, dim, v_dim = sizes(part, place.d_model)
    reads = 2 * v_dim if part.get("differential") else v_dim
    reach = Reach(part.get("window"), part.get("chunk"))
    if index := part.get("indexer"):
        reach = Reach(window=index["index_top_k"] * index["index_block"])
    across = "source" if place.cross else "own"
    looks = [Look(heads, dim, reads, reach, across)]
    window = part.get("kept") or part.get("window") or part.get("chunk")
    kept = [Kept(width, window, span=across) for width in (kv * dim, kv * v_dim)]
    if part.get("merged"):
        looks.append(Look(heads, dim, reads, keys="source"))
        kept += [Kept(width, span="source") for width in (kv * dim, kv * v_dim)]
    return looks, kept


def indexer(index: Tree, place: Place) -> Part:
    """MiniMax-M3's: queries and one key a token, both normalised; scores are all it makes."""
    heads, dim = index["index_heads"], index["index_dim"]
    tensors = linear(heads * dim, place.d_model) + linear(dim, place.d_model)
    tensors += norm("rms", dim) + norm("rms", dim)
    return Part(tensors, [Look(heads, dim, 0)], [], [Kept(dim)])


def convolved(part: Tree, place: Place) -> Part:
    """arXiv:2510.04476: queries and keys filtered by channel, then head by head."""
    heads, kv, dim, _ = sizes(part, place.d_model)
    channels = (heads + kv) * dim
    tensors = convolution(channels, part["d_conv"], bias=True)
    tensors += linear(channels, part["d_head_conv"] * dim, bias=True, reads=channels)
    tensors += learned(kv)
    inputs_before = (part["d_conv"] - 1) + (part["d_head_conv"] - 1)
    kept = [Kept(channels * inputs_before, span="fixed"), Kept(kv * dim // 2, span="fixed")]
    return attention(part, place) + Part(tensors, [], [], kept)


def experts(part: Tree, place: Place) -> Part:
    """arXiv:2210.05144: a token's experts have queries and outputs of their own."""
    count, used = part["n_experts"], part["top_k"]
    kv, dim, d_model = part["n_kv_heads"], part["head_dim"], place.d_model
    tensors = linear(count, d_model)
    tensors += linear(kv * dim, d_model, copies=count, used=used)
    tensors += linear(d_model, kv * dim, copies=count, used=used)
    tensors += linear(kv * dim, d_model) + linear(kv * dim, d_model)
    tensors += [Tensor("bias", d_model)] * part.get("bias", False)
    return Part(tensors, [Look(used * kv, dim, dim)], [], [Kept(kv * dim), Kept(kv * dim)])


KINDS = {"mha": attention, "gqa": attention, "cca": convolved, "moa": experts}
