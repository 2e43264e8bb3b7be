"""Attention that keeps latents or compressed entries, and the indexers that pick among them."""

from __future__ import annotations

from tests.support.counting.rows import (
    Kept,
    Look,
    Part,
    Place,
    Reach,
    Tensor,
    Tree,
    learned,
    linear,
    norm,
)


def latent(part: Tree, place: Place) -> Part:
    """arXiv:2405.04434 section 2.1: keys and values of all heads come from one latent a token."""
    d_model, heads, rank = place.d_model, part["n_heads"], part["kv_rank"]
    rope, nope, v_dim = part.get("rope_dim", 0), part["nope_dim"], part["v_dim"]
    bias, window, gate = part.get("bias", False), part.get("window"), part.get("gate", "none")
    tensors = _queries(part, d_model)
    tensors += linear(rank + rope, d_model, bias) + norm("rms", rank)
    tensors += norm("rms", rope) if part.get("rope_norm") else []
    for width in (nope, v_dim):
        tensors += linear(heads * width, rank, stream="latent", window=window)
    if gate in ("head", "channel"):
        tensors += linear(heads * (v_dim if gate == "channel" else 1), d_model)
    tensors += linear(d_model, heads * v_dim, bias or part.get("o_bias", False))
    tensors += learned(heads) if part.get("sinks") else []
    index = part.get("indexer")
    reach = Reach(window=part.get("shared_top_k") or window)
    if index is not None:
        reach = Reach(window=index["index_top_k"] + index.get("pool", 1) - 1)
    look = Look(heads, nope + rope, v_dim, reach, latent=(rank + rope, rank))
    found = Part(tensors, [look], [], [Kept(rank, window), Kept(rope, window)])
    return found if index is None else found + _indexer(index, part["q_rank"], d_model)


def _queries(part: Tree, d_model: int) -> list[Tensor]:
    """From the stream, or from a latent of their own; the gate too, from both sides of its norm."""
    heads, width = part["n_heads"], part["nope_dim"] + part.get("rope_dim", 0)
    rank = part.get("q_rank")
    if rank is None:
        return linear(heads * width, d_model)
    down = linear(rank, d_model, part.get("bias", False)) + norm("rms", rank)
    if part.get("gate") == "query":
        return down + linear(heads * (width + part["v_dim"]), 2 * rank)
    return down + linear(heads * width, rank)


def _indexer(index: Tree, q_rank: int, d_model: int) -> Part:
    """arXiv:2512.02556 section 2.1: heads' scores of all keys, summed by a weight for each."""
    heads, dim, pool = index["index_heads"], index["index_dim"], index.get("pool")
    tensors = linear(heads * dim, q_rank) + linear(dim, d_model) + linear(heads, d_model)
    tensors += norm(index.get("norm", "layer"), dim)
    looks = [Look(heads, dim, 1, Reach(block=pool))]
    if pool is None:
        return Part(tensors, looks, [], [Kept(dim)])
    tensors += linear(dim, d_model) + learned(pool * dim)
    return Part(tensors, looks, [], [Kept(dim, block=pool), Kept(2 * dim, block=pool, open=True)])


def compressed(part: Tree, place: Place) -> Part:
    """DeepSeek-V4's: one head of keys, which are values too, in a window and as entries."""
    d_model, heads, dim = place.d_model, part["n_heads"], part["head_dim"]
    rank, groups, o_rank = part["q_rank"], part["o_groups"], part["o_rank"]
    tensors = linear(rank, d_model) + norm("rms", rank) + linear(heads * dim, rank)
    tensors += linear(dim, d_model) + norm("rms", dim)
    tensors += linear(o_rank, heads * dim // groups, copies=groups, used=groups)
    tensors += linear(d_model, groups * o_rank) + learned(heads)
    found = Part(tensors, [Look(heads, dim, dim, Reach(part["window"]))])
    window = Kept(dim, part["window"])
    block, index = part.get("block"), part.get("indexer")
    if block is None:
        return found + Part([], [], [], [window, window])
    overlap = part.get("overlap", False)
    most = None if index is None else index["index_top_k"]
    entries = Look(heads, dim, dim, Reach(block=block, most=most))
    found += Part([], [entries], [], [window]) + _entries(dim, block, overlap, d_model)
    if index is None:
        return found
    heads, dim = index["index_heads"], index["index_dim"]
    scored = linear(heads * dim, rank) + linear(heads, d_model)
    found += Part(scored, [Look(heads, dim, 0, Reach(block=block))])
    return found + _entries(dim, block, overlap, d_model)


def _entries(dim: int, block: int, overlap: bool, d_model: int) -> Part:
    """One for each block, made of every token's projection and gate; in two series that overlap.

    Projections and gates of an open block wait for it to be complete, and where entries overlap
    those of the block before, the gates in fp32.
    """
    series = 2 if overlap else 1
    tensors = linear(series * dim, d_model) + linear(series * dim, d_model)
    tensors += learned(block * series * dim) + norm("rms", dim)
    kept = [Kept(dim, block=block), Kept(2 * series * dim, block=block, open=True)]
    if overlap:
        kept.append(Kept(block * dim, span="fixed"))
        kept.append(Kept(block * dim, span="fixed", fmt="fp32"))
    return Part(tensors, [], [], kept)


KINDS = {"mla": latent, "compressed": compressed}
