"""Llama and what kept its shape."""

from __future__ import annotations

from txcalc.sources.readers.common import (
    attention,
    derived_heads,
    even,
    given,
    glu,
    never,
    plain,
    window,
)
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers, pattern, uniform, windowed


def llama(c: Config) -> Tree:
    """arXiv:2302.13971: RMSNorm, rotary positions, SwiGLU; biases by flag."""
    even(c)
    return uniform(c, _block(c))


def arcee(c: Config) -> Tree:
    """The same with an FFN of two matrices."""
    even(c)
    bias = c.flag("mlp_bias", default=False)
    return uniform(c, _block(c) | {"ffn": plain(c, bias=bias)})


def iquestcoder(c: Config) -> Tree:
    """The same with 8 KV heads of 128 where the file does not say."""
    even(c)
    never(c, "use_sliding_window")
    if c.has("clip_qkv"):
        c.unsupported("clip_qkv of type 'iquestcoder'")
    return uniform(c, _block(c, kv_default=8, head_dim=128))


def internlm3(c: Config) -> Tree:
    """The same with one flag for the biases of attention and FFN, which has several names."""
    even(c)
    bias = c.flag("attention_bias", "qkv_bias", default=False)
    if bias != c.flag("mlp_bias", "bias", default=False):
        c.refuse("attention_bias", "qkv_bias and bias contradict each other: both or none")
    part = attention(c, kv_default=2, head_dim=128, bias=bias)
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c, bias=bias)})


def cwm(c: Config) -> Tree:
    """arXiv:2510.02387: a window in three of four layers, the first of them without."""
    even(c)
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    return windowed(
        c,
        lambda w: {
            "norm": "rms",
            "attention": attention(c, kv_default=8, head_dim=128, window=w),
            "ffn": ffn,
        },
        lambda i: i % 4 != 0,
        window=window(c, 8192),
    )


def smollm3(c: Config) -> Tree:
    """Layers without rotary positions, which alone have a window where one is used."""
    used = c.flag("use_sliding_window", default=False)
    period = c.size("no_rope_layer_interval", default=4)
    rotary = c.sizes("no_rope_layers", length=n_layers(c))
    bias, ffn = (
        c.flag("attention_bias", default=False),
        glu(c, bias=c.flag("mlp_bias", default=False)),
    )
    size = window(c)
    return windowed(
        c,
        lambda w: {
            "norm": "rms",
            "attention": attention(c, kv_default=4, bias=bias, window=w),
            "ffn": ffn,
        },
        lambda i: (i + 1) % period == 0 if rotary is None else not rotary[i],
        window=size if used else None,
        tied=True,
    )


def diffllama(c: Config) -> Tree:
    """arXiv:2410.05258: each head's output is the difference of two attentions."""
    c.ignore("lambda_std_dev")
    bias = c.flag("attention_bias", default=False)
    part = attention(c, bias=bias, differential=True)
    heads: int = part.get("n_kv_heads") or part["n_heads"]
    if heads % 2:
        c.refuse("num_key_value_heads", "an even number is needed: values are halved by heads")
    notes = ["scores: once for both halves of the values, however often a class makes them"]
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c)}, notes=notes)


def mllama(c: Config) -> Tree:
    """arXiv:2407.21783 section 7: layers of cross-attention to images among those of Llama.

    A text alone skips them, so nothing runs their tensors.  The token table has 8 rows more than
    the head; they are never tied.
    """
    derived_heads(c)
    count = n_layers(c)
    listed = c.sizes("cross_attention_layers")
    listed = list(range(3, 43, 5)) if listed is None else listed
    block = {"norm": "rms", "attention": attention(c, kv_default=8), "ffn": glu(c)}
    layers = ["cross" if i in listed else "text" for i in range(count)]
    tree = uniform(c, block)
    blocks = {"text": block, "cross": {"norm": "none", "tensors": _idle(c, block)}}
    tree |= {
        "blocks": {name: block for name, block in blocks.items() if name in layers},
        "layers": pattern(layers) | {"final_norm": "rms"},
        "vocab": tree["vocab"] + 8,
        "notes": ["cross-attention to images: stored, and skipped by a text alone"],
    }
    head = {"tied": False, "n_outputs": c.size("vocab_size")}
    return tree | given(head=head if "head" in tree else None)


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
        **{n: {"use": "matmul", "dims": [*dims], "stream": "none"} for n, dims in products.items()},
        **{name: {"use": "norm", "dims": [size]} for name, size in norms.items()},
        "gates": {"use": "elementwise", "dims": [2]},
    }


def _block(c: Config, **defaults: int) -> Tree:
    """A layer of Llama, whatever the type's KV heads and head_dim are by default."""
    bias = c.flag("attention_bias", default=False)
    return {
        "norm": "rms",
        "attention": attention(c, bias=bias, **defaults),
        "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
    }
