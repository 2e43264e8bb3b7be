"""Llama, and what kept its shape."""

from __future__ import annotations

from functools import partial
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import ATTENTION, by_layer, decoder, kinds, n_layers
from txcalc.sources.readers.mixtures import mixture, sparse
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, glu, plain, window
from txcalc.sources.readers.refusals import refuse_flags, refuse_other_head_dim, refuse_uneven_heads
from txcalc.sources.readers.trees import noted, tensor


def llama(c: Config) -> Tree:
    """arXiv:2302.13971: RMSNorm, rotary positions, SwiGLU; biases by flag."""
    return _llama(c)


def arcee(c: Config) -> Tree:
    """Llama with an FFN of two matrices."""
    return _llama(c, ffn=plain(c, bias="mlp_bias"))


def iquestcoder(c: Config) -> Tree:
    """Llama with 8 KV heads of 128 where the file does not say."""
    refuse_flags(c, "use_sliding_window")
    if c.has("clip_qkv"):
        c.unsupported("clip_qkv of type 'iquestcoder'")
    return _llama(c, kv_default=8, head_dim=128)


def internlm3(c: Config) -> Tree:
    """Llama with one flag for the biases of attention and FFN, which has several names."""
    bias = c.flag("attention_bias", "qkv_bias", default=False)
    if bias != c.flag("mlp_bias", "bias", default=False):
        c.refuse("attention_bias", "qkv_bias and bias contradict each other: both or none")
    return _llama(c, kv_default=2, head_dim=128, bias=bias, ffn=glu(c, bias=bias))


def internlm(c: Config) -> Tree:
    """arXiv:2403.17297, and InternLM before it: one flag for the biases of q, k, v and o."""
    return modern(c, bias=c.flag("bias", default=True))


def cwm(c: Config) -> Tree:
    """arXiv:2510.02387: a window in three of four layers, the first of them without."""
    keys = window(c, 8192)
    return _llama(
        c, kv_default=8, head_dim=128, bias=False, window=keys, slides=lambda i: i % 4 != 0
    )


def _llama(c: Config, **differences: Any) -> Tree:
    """The types whose heads have to divide d_model, and whose FFN has biases by flag."""
    refuse_uneven_heads(c)
    return modern(c, **{"ffn": glu(c, bias="mlp_bias"), **differences})


def emu3(c: Config) -> Tree:
    """arXiv:2409.18869: Llama over a vocabulary that holds images."""
    return modern(c, kv_default=8, ffn=glu(c, bias="mlp_bias"))


def smollm3(c: Config) -> Tree:
    """Layers without rotary positions, which alone have a window where one is used."""
    used = c.flag("use_sliding_window", default=False)
    period = c.size("no_rope_layer_interval", default=4)
    rotary = c.sizes("no_rope_layers", length=n_layers(c))
    keys = window(c)
    return modern(
        c,
        kv_default=4,
        ffn=glu(c, bias="mlp_bias"),
        window=keys if used else None,
        slides=lambda i: (i + 1) % period == 0 if rotary is None else not rotary[i],
        tied=True,
    )


def diffllama(c: Config) -> Tree:
    """arXiv:2410.05258: each head's output is the difference of two attentions."""
    heads = c.size("num_attention_heads")
    if c.size("num_key_value_heads", default=heads) % 2:
        c.refuse("num_key_value_heads", "an even number is needed: values are halved by heads")
    note = "scores: once for both halves of the values, however often a class makes them"
    return noted(modern(c, differential=True), note)


def mllama(c: Config) -> Tree:
    """arXiv:2407.21783 section 7: layers of cross-attention to images among those of Llama.

    A text alone skips them, so nothing runs their tensors.  The token table has 8 rows more than
    the head; they are never tied.
    """
    refuse_other_head_dim(c)
    listed = c.sizes("cross_attention_layers")
    crosses = set(range(3, 43, 5) if listed is None else listed)
    text = {"norm": "rms", "attention": attention(c, kv_default=8, bias=False), "ffn": glu(c)}
    blocks = {"text": text, "cross": {"norm": "none", "tensors": _idle(c, text)}}
    layers = by_layer(n_layers(c), lambda i: "cross" if i in crosses else "text")
    tree = decoder(c, blocks, layers, tied=False)
    if "head" in tree:
        tree["head"] = {"tied": False, "n_outputs": tree["vocab"]}
    note = "cross-attention to images: stored, and skipped by a text alone"
    return noted(tree | {"vocab": tree["vocab"] + 8}, note)


def _idle(c: Config, block: Tree) -> Tree:
    """The tensors of a layer of cross-attention."""
    part, d_ff = block["attention"], block["ffn"]["d_ff"]
    width = c.size("hidden_size") // part["n_heads"]
    q, kv = part["n_heads"] * width, part.get("n_kv_heads", part["n_heads"]) * width
    products = {"q": (q, "d_model"), "k": (kv, "d_model"), "v": (kv, "d_model"),
                "o": ("d_model", q), "gate": (d_ff, "d_model"), "up": (d_ff, "d_model"),
                "down": ("d_model", d_ff)}  # fmt: skip
    norms = {"before_cross": "d_model", "before_ffn": "d_model", "q_norm": width, "k_norm": width}
    return {
        **{n: tensor("matmul", *dims, stream="none") for n, dims in products.items()},
        **{name: tensor("norm", size) for name, size in norms.items()},
        "gates": tensor("elementwise", 2),
    }


_KINDS = {**ATTENTION, "chunked_attention": "chunked"}


def llama4_text(c: Config) -> Tree:
    """Attention within chunks but in every fourth layer; one shared expert beside one routed."""
    count, chunk = n_layers(c), window(c, 8192, "attention_chunk_size")
    mixers = {
        name: {"attention": attention(c, kv_default=8, head_dim=128, chunk=size)}
        for name, size in {"full": None, "chunked": chunk}.items()
    }
    c.ignore("intermediate_size_mlp", "use_qk_norm")
    moe = partial(
        mixture, c, n_experts=["num_local_experts"], top_k_default=1, width=["intermediate_size"],
        shared=1,
    )  # fmt: skip
    dense = partial(glu, c, width="intermediate_size_mlp")
    return sparse(c, mixers, _chunked(c, count), _routed(c, count), moe, dense=dense)


def _chunked(c: Config, count: int) -> list[str]:
    """Queries of layers without rotation attend to all keys, unless the file lists the kinds."""
    step = c.size("no_rope_layer_interval", default=4)
    rotated = c.flags("no_rope_layers")
    if rotated and len(rotated) != count:
        c.refuse("no_rope_layers", f"{len(rotated)} entries for {count} layers")
    rotates = rotated or [(i + 1) % step != 0 for i in range(count)]
    return kinds(c, count, lambda i: "chunked" if rotates[i] else "full", known=_KINDS)


def _routed(c: Config, count: int) -> list[str]:
    """Layers with experts: those that are listed, or every so many."""
    step, listed = c.size("interleave_moe_layer_step", default=1), c.sizes("moe_layers")
    chosen = set(range(step - 1, count, step) if listed is None else listed)
    return by_layer(count, lambda i: "moe" if i in chosen else "dense")
