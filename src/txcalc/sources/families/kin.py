"""Dense decoders of one kind of layer, each with a detail of its own."""

from __future__ import annotations

from math import isqrt

from txcalc.sources.readers.common import attention, even, given, glu, never, plain, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers, uniform

QKV = ["q", "k", "v"]


def apertus(c: Config) -> Tree:
    """arXiv:2509.14233: q and k normed by head, and xIELU's two parameters (arXiv:2411.13010).

    The head may score fewer entries than the token table has.
    """
    never(c, "mlp_bias", "post_norm")
    if not c.flag("qk_norm", default=True):
        c.unsupported("qk_norm false of type 'apertus'")
    block: Tree = {
        "norm": "rms",
        "attention": attention(c, bias=c.flag("attention_bias", default=False), qk_norm="head"),
        "ffn": plain(c),
    }
    if c.word("hidden_act", default="xielu") == "xielu":
        block["tensors"] = {
            "xielu": {"use": "elementwise", "dims": [2]},
            "xielu_constants": {"use": "buffer", "dims": [2]},
        }
    tree = uniform(c, block)
    outputs = c.maybe("output_vocab_size") or tree["vocab"]
    if outputs > tree["vocab"]:
        c.refuse("output_vocab_size", f"{outputs} is above vocab_size {tree['vocab']}")
    if outputs == tree["vocab"] or "head" not in tree:
        return tree
    if tree["head"]["tied"]:
        c.refuse("output_vocab_size", "a tied head scores the whole vocabulary")
    return tree | {"head": tree["head"] | {"n_outputs": outputs}}


def bitnet(c: Config) -> Tree:
    """arXiv:2504.12285: norms inside attention and FFN, before their last product."""
    bias = c.flag("attention_bias", default=False)
    inner = {"attention_norm": ["d_model"], "ffn_norm": ["d_ff"]}
    block = {
        "norm": "rms",
        "attention": attention(c, kv_default=5, bias=bias),
        "ffn": glu(c),
        "tensors": {name: {"use": "norm", "dims": dims} for name, dims in inner.items()},
    }
    return uniform(c, block)


def doge(c: Config) -> Tree:
    """A mask computed from the values; residuals scaled by channel; single-neuron experts by flag.

    Experts (arXiv:2407.04153) stand beside the FFN, and the router finds them by two half keys.
    """
    kept = c.size("keep_window_size", default=2048)
    bias = c.flag("attention_bias", default=False)
    part = attention(c, bias=bias, qk_norm="head", window=window(c))
    heads = "n_kv_heads" if part["kind"] == "gqa" else "n_heads"
    width = part.get("head_dim", c.size("hidden_size") // part["n_heads"])
    values = part.get("n_kv_heads", part["n_heads"]) * width
    tensors: Tree = {
        "mask": {"use": "matmul", "dims": [heads, values]},
        **given(mask_bias={"use": "bias", "dims": [heads]} if bias else None),
        "mask_scale": {"use": "elementwise", "dims": [heads]},
        "residual_scales": {"use": "elementwise", "dims": ["d_model"], "copies": 2},
    }
    c.ignore("num_experts", "num_experts_per_tok", "norm_topk_prob")
    if c.flag("is_moe", default=False):
        tensors |= _retrieved(c)
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    block = {"norm": "rms", "attention": part, "ffn": ffn, "tensors": tensors}
    notes = [f"scores: with all keys, of which the mask leaves at most {kept:,}"]
    return uniform(c, block, notes=notes)


def _retrieved(c: Config) -> Tree:
    """Experts of one neuron each, and the router."""
    experts = c.size("num_experts", default=16384)
    used = c.size("num_experts_per_tok", default=64)
    return {
        "router": {"use": "matmul", "dims": [2 * isqrt(experts), "d_model"]},
        **{
            f"experts_{name}": {"use": "matmul", "dims": dims, "copies": experts, "used": used}
            for name, dims in (("down", [1, "d_model"]), ("up", ["d_model", 1]))
        },
    }


def ernie4_5(c: Config) -> Tree:
    """Baidu's ERNIE 4.5: one flag for all biases, 2 KV heads of 128."""
    bias = c.flag("use_bias", default=False)
    part = attention(c, kv_default=2, head_dim=128, bias=bias)
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c, bias=bias)}, tied=True)


def emu3(c: Config) -> Tree:
    """arXiv:2409.18869: Llama over a vocabulary that holds images."""
    bias = c.flag("attention_bias", default=False)
    part = attention(c, kv_default=8, bias=bias)
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    return uniform(c, {"norm": "rms", "attention": part, "ffn": ffn})


def helium(c: Config) -> Tree:
    """Kyutai's Helium: biases on q, k and v; heads that together are as wide as d_model."""
    bias = QKV if c.flag("attention_bias", default=False) else False
    part = attention(c, kv_default=20, head_dim=128, bias=bias)
    d_model = c.size("hidden_size")
    width = part["n_heads"] * part.get("head_dim", d_model // part["n_heads"])
    if width != d_model:
        c.refuse("head_dim", f"the heads are {width} wide, but have to be as wide as {d_model}")
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    return uniform(c, {"norm": "rms", "attention": part, "ffn": ffn})


def hrm_text(c: Config) -> Tree:
    """arXiv:2506.21734: two stacks, a low one that runs L times for each run of the high one."""
    even(c)
    c.ignore("L_bp_cycles", "embedding_scale", "prefix_lm")
    high, low = c.size("H_cycles", default=2), c.size("L_cycles", default=3)
    count = c.maybe("num_layers_per_stack") or n_layers(c)
    c.ignore("num_hidden_layers")
    bias = c.flag("attention_bias", default=False)
    width = c.maybe("head_dim") or 128
    part = {"kind": "mha", "n_heads": c.size("num_attention_heads"), "head_dim": width}
    block = {
        "norm": "none",
        "attention": part | {"gated": True} | given(bias=bias),
        "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
    }
    blocks = {
        name: block | given(loops=loops if loops > 1 else None)
        for name, loops in (("low", high * low), ("high", high))
    }
    layers = ["low"] * count + ["high" if low > 1 else "low"] * count
    start = {"low_start": {"use": "elementwise", "dims": ["d_model"]}}
    return decoder(c, blocks, layers, tied=False, final_norm="none", tensors=start)


def hunyuan(c: Config) -> Tree:
    """Tencent's Hunyuan, dense: q and k normed by head, whose width the file has to state."""
    never(c, "mlp_bias", "use_cla")
    if not c.flag("use_qk_norm", default=True):
        c.unsupported("use_qk_norm false of type 'hunyuan_v1_dense'")
    width = c.size("head_dim", "attention_head_dim")
    part = attention(c, bias=c.flag("attention_bias", default=False), qk_norm="head")
    part["head_dim"] = width
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c)})


def jais2(c: Config) -> Tree:
    """LayerNorm, squared ReLU between two matrices, biases unless the file says otherwise."""
    even(c)
    block = {
        "norm": "layer",
        "attention": attention(c, bias=c.flag("attention_bias", default=True)),
        "ffn": plain(c, bias=c.flag("mlp_bias", default=True)),
    }
    return uniform(c, block, final_norm="layer")


def nanochat(c: Config) -> Tree:
    """Norms without weights, squared ReLU between two matrices."""
    c.ignore("final_logit_softcapping")
    bias = c.flag("attention_bias", default=False)
    block = {"norm": "none", "attention": attention(c, bias=bias), "ffn": plain(c)}
    return uniform(c, block, final_norm="none")


def seed_oss(c: Config) -> Tree:
    """ByteDance's Seed-OSS: biases on q, k and v unless the file says otherwise, on o by a flag."""
    bias = QKV if c.flag("attention_bias", default=True) else []
    bias = bias + (["o"] if c.flag("attention_out_bias", default=False) else [])
    part = attention(c, kv_default=8, head_dim=128, bias=bias)
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    return uniform(c, {"norm": "rms", "attention": part, "ffn": ffn})
