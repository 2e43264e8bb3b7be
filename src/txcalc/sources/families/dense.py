"""Dense decoders of no larger lineage, each Llama's but for a detail or two."""

from __future__ import annotations

from math import isqrt

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import latent
from txcalc.sources.readers.layers import decoder, n_layers, uniform
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, biased, glu, mha, plain, window
from txcalc.sources.readers.refusals import refuse_flags, refuse_other_head_dim, refuse_uneven_heads
from txcalc.sources.readers.trees import dense, given, noted, tensor, untied

_QKV = ["q", "k", "v"]
_BAICHUAN = {4096: "rotary", 5120: "alibi"}
"""Positions of Baichuan by the width of the residual stream."""


def apertus(c: Config) -> Tree:
    """arXiv:2509.14233: q and k normed by head, and xIELU's two parameters (arXiv:2411.13010).

    The head may score fewer entries than the token table has.
    """
    refuse_flags(c, "mlp_bias", "post_norm")
    if not c.flag("qk_norm", default=True):
        c.unsupported("qk_norm false of type 'apertus'")
    xielu = {"xielu": tensor("elementwise", 2), "xielu_constants": tensor("buffer", 2)}
    tensors = xielu if c.word("hidden_act", default="xielu") == "xielu" else None
    tree = modern(c, ffn=plain(c), qk_norm="head", tensors=tensors)
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
    tensors = {"attention_norm": tensor("norm", "d_model"), "ffn_norm": tensor("norm", "d_ff")}
    return modern(c, kv_default=5, tensors=tensors)


def doge(c: Config) -> Tree:
    """A mask computed from the values; residuals scaled by channel; single-neuron experts by flag.

    Experts (arXiv:2407.04153) stand beside the FFN, and the router finds them by two half keys.
    """
    kept = c.size("keep_window_size", default=2048)
    part = attention(c, qk_norm="head", window=window(c))
    heads = "n_kv_heads" if part["kind"] == "gqa" else "n_heads"
    width = part.get("head_dim", c.size("hidden_size") // part["n_heads"])
    values = part.get("n_kv_heads", part["n_heads"]) * width
    tensors: Tree = {
        "mask": tensor("matmul", heads, values),
        **({"mask_bias": tensor("bias", heads)} if "bias" in part else {}),
        "mask_scale": tensor("elementwise", heads),
        "residual_scales": tensor("elementwise", "d_model", copies=2),
    }
    c.ignore("num_experts", "num_experts_per_tok")
    if c.flag("is_moe", default=False):
        tensors |= _retrieved(c)
    block = {"norm": "rms", "attention": part, "ffn": glu(c, bias="mlp_bias"), "tensors": tensors}
    note = f"scores: with all keys, of which the mask leaves at most {kept:,}"
    return noted(uniform(c, block), note)


def _retrieved(c: Config) -> Tree:
    """Experts of one neuron each, and the router."""
    copies = c.size("num_experts", default=16384)
    used = c.size("num_experts_per_tok", default=64)
    return {
        "router": tensor("matmul", 2 * isqrt(copies), "d_model"),
        "experts_down": tensor("matmul", 1, "d_model", copies=copies, used=used),
        "experts_up": tensor("matmul", "d_model", 1, copies=copies, used=used),
    }


def helium(c: Config) -> Tree:
    """Kyutai's Helium: biases on q, k and v; heads that together are as wide as d_model."""
    bias = biased(c, _QKV, default=False)
    tree = modern(c, kv_default=20, head_dim=128, bias=bias, ffn=glu(c, bias="mlp_bias"))
    part, d_model = tree["blocks"]["decoder"]["attention"], tree["d_model"]
    width = part["n_heads"] * part.get("head_dim", d_model // part["n_heads"])
    if width != d_model:
        c.refuse("head_dim", f"the heads are {width} wide, but have to be as wide as {d_model}")
    return tree


def jais2(c: Config) -> Tree:
    """LayerNorm, squared ReLU between two matrices, biases unless the file says otherwise."""
    refuse_uneven_heads(c)
    bias = c.flag("attention_bias", default=True)
    ffn = plain(c, bias=c.flag("mlp_bias", default=True))
    return modern(c, norm="layer", bias=bias, ffn=ffn)


def minicpm3(c: Config) -> Tree:
    """OpenBMB's MiniCPM3: values as wide as d_model / n_heads, unless the file says otherwise."""
    d_model, heads = c.size("hidden_size"), c.size("num_attention_heads")
    if d_model % heads:
        c.refuse("hidden_size", f"{d_model} is no multiple of {heads} num_attention_heads")
    part = latent(c, q_default=768, v_default=d_model // heads)
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c, bias="mlp_bias")}, tied=True)


def minicpm(c: Config) -> Tree:
    """arXiv:2404.06395: Llama's shapes, tied; multipliers of embedding, residuals and logits."""
    if c.count("num_experts", default=0):
        c.unsupported("a mixture of experts (num_experts) of type 'minicpm'")
    return modern(c, tied=True)


def baichuan(c: Config) -> Tree:
    """arXiv:2309.10305: Llama's shapes; 7B rotates, 13B has ALiBi, by the code of each.

    No key says which: the class of the first 7B has a name of its own, and of the others the width
    tells (vLLM 0.11.0, baichuan.py).
    """
    tree, width = modern(c, bias=False), c.size("hidden_size")
    if c.class_.startswith("BaiChuan") or width in _BAICHUAN:
        tree["layers"]["positions"] = {"kind": _BAICHUAN.get(width, "rotary")}
    return tree | given(context=tree.get("context") or c.maybe("model_max_length"))


def telechat(c: Config) -> Tree:
    """arXiv:2401.03804: biases where attention and FFN end, and nowhere else."""
    refuse_flags(c, "embed_layernorm")
    c.ignore("logn", "flash_attn", "n_inner", "training_seqlen", "base_seqlen")
    block = {
        "norm": "rms",
        "attention": mha(c.size("n_head"), c.maybe("num_key_value_heads"), bias=["o"]),
        "ffn": glu(c, width="ffn_hidden_size"),
        "tensors": {"down_bias": tensor("bias", "d_model")},
    }
    count = n_layers(c, "n_layer", "num_hidden_layers")
    return decoder(c, {"decoder": block}, count, tied=False, limit=("seq_length",))


def yuan(c: Config) -> Tree:
    """arXiv:2311.15786: two convolutions of two taps before queries and keys.

    They keep the last inputs, which no part describes.
    """
    narrow = c.size("hidden_size") // 2
    tensors = dense("filter_down", narrow, "2*d_model") | dense("filter_up", "d_model", 2 * narrow)
    tensors["filter_norm"] = tensor("norm", "d_model")
    c.ignore("use_loss_mask", "causal_mask", "reset_position_ids", "reset_attention_mask")
    block = {"norm": "rms", "attention": attention(c), "ffn": glu(c), "partial": True}
    limit = ("model_max_length", "max_position_embeddings")
    return uniform(c, block | {"tensors": tensors}, tied=True, limit=limit)


def moshi(c: Config) -> Tree:
    """arXiv:2410.00037, without audio codec and depth decoder: ffn_dim is gate and up together.

    One more token is read than is scored.
    """
    c.only("causal")
    ffn, vocab = c.size("ffn_dim"), c.size("vocab_size")
    if ffn % 2:
        c.refuse("ffn_dim", f"{ffn} is odd, but it is gate and up together")
    c.ignore("audio_encoder_config", "depth_decoder_config", "audio_vocab_size", "num_codebooks")
    gated = {"kind": "glu", "d_ff": ffn // 2}
    tree = untied(modern(c, bias=False, window=window(c, 3000), ffn=gated))
    tree |= {"vocab": vocab + 1, "head": tree["head"] | {"n_outputs": vocab}, "scope": "text"}
    return noted(tree, "left out: what audio_encoder_config and depth_decoder_config describe")


def nanochat(c: Config) -> Tree:
    """Norms without weights, squared ReLU between two matrices."""
    return modern(c, norm="none", ffn=plain(c))


def persimmon(c: Config) -> Tree:
    """Adept's Persimmon: LayerNorm, biases everywhere, q and k normed by head by flag."""
    refuse_uneven_heads(c)
    refuse_other_head_dim(c)
    normed = c.flag("qk_layernorm", default=True)
    part = mha(c.size("num_attention_heads"), bias=True)
    part |= {"qk_norm": "head", "qk_norm_kind": "layer"} if normed else {}
    block = {"norm": "layer", "attention": part, "ffn": plain(c, bias=True)}
    return uniform(c, block, final_norm="layer")


def seed_oss(c: Config) -> Tree:
    """ByteDance's Seed-OSS: biases on q, k and v unless the file says otherwise, on o by a flag."""
    bias = biased(c, _QKV, default=True) + biased(c, "o", "attention_out_bias", default=False)
    return modern(c, kv_default=8, head_dim=128, bias=bias, ffn=glu(c, bias="mlp_bias"))


def stablelm(c: Config) -> Tree:
    """arXiv:2402.17834: LayerNorm; q and k normed by head, biases and parallel branches by flag."""
    refuse_uneven_heads(c)
    refuse_other_head_dim(c)
    qk_norm: Tree = {"qk_norm": "width", "qk_norm_kind": "layer_no_bias"}
    normed = c.flag("qk_layernorm", default=False)
    parallel = c.flag("use_parallel_residual", default=False)
    return modern(
        c, norm="layer", placement="parallel" if parallel else "pre", kv_default=32,
        bias=biased(c, _QKV, "use_qkv_bias", default=False), **(qk_norm if normed else {}),
    )  # fmt: skip


def starcoder2(c: Config) -> Tree:
    """arXiv:2402.19173: LayerNorm, an FFN of two matrices, one flag for all biases."""
    c.ignore("mlp_type")
    bias, keys = c.flag("use_bias", default=True), window(c)
    ffn = plain(c, bias=bias)
    return modern(c, norm="layer", kv_default=2, bias=bias, window=keys, ffn=ffn, tied=True)


def youtu(c: Config) -> Tree:
    """Tencent's Youtu: DeepSeek's attention in dense layers."""
    part = latent(c, q_default=1536)
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c)}, tied=True)
