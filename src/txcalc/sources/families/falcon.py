"""TII's Falcon, and Falcon-H1."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers, uniform
from txcalc.sources.readers.parts import attention, glu, mha
from txcalc.sources.readers.state_spaces import mamba2_part
from txcalc.sources.readers.trees import given

_WIDTH = ("hidden_size", "n_embed")
_HEADS = ("num_attention_heads", "n_head")
_LAYERS = ("num_hidden_layers", "n_layer")


def falcon(c: Config) -> Tree:
    """arXiv:2311.16867: one KV head, or with the new architecture as many as the file says.

    Its first files had types of their own: RefinedWeb, which is the new architecture, and
    RefinedWebModel.
    """
    c.only("causal", "body")
    c.ignore("apply_residual_connection_post_layernorm")
    bias, width = c.flag("bias", default=False), c.size(*_WIDTH)
    block = {
        "norm": "layer",
        "placement": _norms(c),
        "attention": _attention(c, bias=bias),
        "ffn": {"kind": "plain", "d_ff": c.maybe("ffn_hidden_size") or 4 * width}
        | given(bias=bias),
    }
    positions = "alibi" if c.flag("alibi", default=False) else "rotary"
    return decoder(
        c, {"decoder": block}, n_layers(c, *_LAYERS), tied=True, final_norm="layer",
        positions={"kind": positions}, width=_WIDTH,
        limit=("max_position_embeddings", "max_seq_len"),
    )  # fmt: skip


def _attention(c: Config, *, bias: bool) -> Tree:
    heads = c.size(*_HEADS)
    stated = c.maybe("num_kv_heads", "n_head_kv") or heads
    new, shared = _new(c), c.flag("multi_query", default=True)
    kv_heads = stated if new else 1 if shared else heads
    return mha(heads, kv_heads, bias=bias)


def _norms(c: Config) -> str:
    """One norm for parallel sub-layers, or one each; and one each where they follow each other."""
    each = c.maybe("num_ln_in_parallel_attn") or (2 if _new(c) else 1)
    if not c.flag("parallel_attn", default=True):
        return "pre"
    return "parallel_two_norms" if each == 2 else "parallel"


def _new(c: Config) -> bool:
    return c.flag("new_decoder_architecture", default=c.type == "RefinedWeb")


def falcon_h1(c: Config) -> Tree:
    """arXiv:2507.22448: attention and Mamba-2 side by side behind one norm."""
    c.ignore("mamba_norm_before_gate", "mamba_use_mlp", "mamba_expand", "mlp_expansion_factor")
    c.ignore("mamba_d_ssm")
    ways = {"in": "mamba_proj_bias", "out": "projectors_bias"}
    bias = [way for way, name in ways.items() if c.on(name, default=False)]
    ssm = mamba2_part(
        c, None if c.null("mamba_d_ssm") else c.stated("mamba_d_ssm", 1024),
        bias=bias, gated_norm=c.on("mamba_rms_norm", default=False),
    )  # fmt: skip
    attend = attention(c, kv_default=8)
    ffn = glu(c, bias="mlp_bias")
    return uniform(c, {"norm": "rms", "attention": attend, "ssm": ssm, "ffn": ffn})
