"""Qwen4-Exp: hyper-connections, attention to blocks that an indexer picks, n-gram embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as counted
from itertools import islice

from txcalc.sources.families.qwen_next import experts, full_layers, gated_attention, text_of
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers
from txcalc.sources.readers.state_spaces import DELTA, gated_delta
from txcalc.sources.readers.trees import tensor

_INDEXER = tuple(
    f"indexer_{end}" for end in ("n_heads", "kv_heads", "head_dim", "budget", "compress_ratio")
)
_MAX_HEADS = 10**4
_KNOWN = DELTA | dict.fromkeys(
    ("indexed_attention", "qwen_sparse_attention", "deepseek_sparse_attention"), "full"
)


def qwen4_exp(c: Config) -> Tree:
    """The whole, whose text model is described."""
    return text_of(c, qwen4_exp_text)


def qwen4_exp_text(c: Config) -> Tree:
    """As the published code of the transformers package.

    How many keys the indexer leaves and what the n-gram layers keep is not modelled, so layers with
    either are partial.
    """
    c.ignore("ple_embed_dim", "ple_conv_kernel_size", *_INDEXER)
    c.ignore("number_of_conv_states", "output_gate_type", "seed", "split_ngram_parts")
    layers = full_layers(c, n_layers(c), _KNOWN)
    n_streams, rank = c.stated("hc_count", 4), c.stated("hc_lowrank", 320)
    wide = f"{n_streams}*d_model"
    fields: Tree = {"norm": "none", "ffn": experts(c, 10)}
    inject = {"inject": tensor("matmul", n_streams, wide)}
    hyper = {
        f"{role}_hyper_{name}": row
        for role in ("mixer", "ffn")
        for name, row in (_mixer(wide, rank) | inject).items()
    }
    blocks: dict[str, Tree] = {"linear": fields | {"ssm": gated_delta(c), "tensors": hyper}}
    if "full" in layers:
        attend = {"attention": gated_attention(c, 2), "tensors": hyper | _indexer(c)}
        blocks["full"] = fields | attend | {"partial": True}
    for i, (layer, rows) in enumerate(_tables(c, layers), 1):
        tensors = hyper | _ngrams(c, rows, wide)
        blocks[f"ngram_{i}"] = blocks["linear"] | {"tensors": tensors, "partial": True}
        layers[layer] = f"ngram_{i}"
    last = {f"hyper_{name}": row for name, row in _mixer(wide, rank).items()}
    return decoder(c, blocks, layers, tied=False, final_norm="none", tensors=last)


def _mixer(wide: str, rank: int) -> Tree:
    """What reads one stream out of all."""
    return {
        "norm": tensor("norm", wide),
        "down": tensor("matmul", rank, wide),
        "up": tensor("matmul", wide, rank),
    }


def _indexer(c: Config) -> Tree:
    heads, width = c.size("indexer_n_heads"), c.size("indexer_head_dim")
    if c.size("indexer_kv_heads") != 1:
        c.refuse("indexer_kv_heads", "this type has one")
    return {
        "indexer_qk": tensor("matmul", (heads + 1) * width, "d_model"),
        "indexer_q_norm": tensor("norm", width),
        "indexer_k_norm": tensor("norm", width),
    }


def _tables(c: Config, layers: list[str]) -> Iterator[tuple[int, int]]:
    """The layers with n-gram embeddings, and the rows of each one's table.

    A table has a part for each head, as long as the next prime that no other part has.
    """
    listed = sorted(set(c.sizes("ple_layer_ids") or ()))
    heads = _ngram_heads(c)
    if heads * len(listed) > _MAX_HEADS:
        c.unsupported(f"n-grams of more than {_MAX_HEADS:,} heads")
    multiple = c.stated("make_ngram_vocab_size_divisible_by", 128)
    base = c.stated("ngram_vocab_size_base", 20_000_000)
    primes = (n for n in counted(base) if is_prime(n))
    for layer in listed:
        if not 0 < layer <= len(layers) or layers[layer - 1] != "linear":
            c.refuse("ple_layer_ids", f"{layer} is no layer without attention, counted from 1")
        rows = sum(islice(primes, heads))
        yield layer - 1, -(-rows // multiple) * multiple


def _ngram_heads(c: Config) -> int:
    return (c.stated("ngram_size", 3) - 1) * c.stated("heads_per_ngram", 8)


def _ngrams(c: Config, rows: int, wide: str) -> Tree:
    d_embed, heads = c.size("ple_embed_dim", default=c.size("hidden_size")), _ngram_heads(c)
    if not heads or d_embed % heads:
        c.refuse("ple_embed_dim", f"{d_embed} is no multiple of {heads} heads of n-grams")
    norms = ("key_norm", "query_norm", "conv_norm")
    return {
        "ngrams": tensor("lookup", rows, d_embed // heads),
        "ngram_key": tensor("matmul", wide, d_embed),
        "ngram_value": tensor("matmul", "d_model", d_embed),
        "ngram_conv": tensor("matmul", wide, c.stated("ple_conv_kernel_size", 4)),
        **{f"ngram_{name}": tensor("norm", wide) for name in norms},
    }


def is_prime(n: int) -> bool:
    """Miller and Rabin's test, with bases that make it exact below 3·10^23."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if n < 2 or any(n % base == 0 for base in bases):
        return n in bases
    twos = ((n - 1) & (1 - n)).bit_length() - 1
    return all(_passes(n, base, twos) for base in bases)


def _passes(n: int, base: int, twos: int) -> bool:
    power = pow(base, (n - 1) >> twos, n)
    return power == 1 or any(pow(power, 1 << i, n) == n - 1 for i in range(twos))
