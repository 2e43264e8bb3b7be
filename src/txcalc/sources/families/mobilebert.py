"""BERTs whose layers multiply by other matrices: SqueezeBERT, ConvBERT, MobileBERT."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import SECOND_BIAS, encoder, labels, projected, token_types
from txcalc.sources.readers.parts import learned
from txcalc.sources.readers.trees import dense, layer_norm

_NORMS: Tree = layer_norm("attention_norm") | layer_norm("ffn_norm")


def squeezebert(c: Config) -> Tree:
    """arXiv:2006.11316: projections over a group of channels each."""
    c.only("masked", "body")
    width, d_ff = c.size("hidden_size"), c.size("intermediate_size")
    if c.size("embedding_size", default=width) != width:
        c.refuse("embedding_size", f"not hidden_size {width}, which the class asks for")
    tensors: Tree = {}
    for name, key, groups, out, inside in (
        ("q", "q_groups", 4, width, width),
        ("k", "k_groups", 4, width, width),
        ("v", "v_groups", 4, width, width),
        ("o", "post_attention_groups", 1, width, width),
        ("up", "intermediate_groups", 4, d_ff, width),
        ("down", "output_groups", 4, width, d_ff),
    ):
        each = c.size(key, default=groups)
        if inside % each or out % each:
            c.refuse(key, f"{each} groups do not divide {inside} and {out} channels")
        tensors |= dense(name, out, inside // each)
    c.ignore("num_attention_heads")
    return encoder(
        c, _tensors(tensors | _NORMS), positions=learned(c),
        token_types=token_types(c), pooled="always", untied=SECOND_BIAS,
    )  # fmt: skip


def convbert(c: Config) -> Tree:
    """arXiv:2008.02496: half of the heads are convolutions whose filters follow the input."""
    c.only("masked", "body")
    if c.flag("add_cross_attention", default=False):
        c.unsupported("cross-attention of type 'convbert'")
    width, d_ff = c.size("hidden_size"), c.size("intermediate_size")
    heads = max(1, c.size("num_attention_heads") // c.size("head_ratio", default=2))
    if width % heads:
        c.refuse("hidden_size", f"{width} is no multiple of the {heads} heads of half the width")
    inner, taps = heads * (width // heads // 2), c.size("conv_kernel_size", default=9)
    tensors: Tree = {}
    for name in ("q", "k", "v", "conv_out"):
        tensors |= dense(name, inner, "d_model")
    tensors |= dense("depthwise", "d_model", taps, bias=False)
    tensors |= dense("pointwise", inner, "d_model")
    tensors |= dense("filters", heads * taps, inner) | dense("o", "d_model", "d_model")
    groups = c.size("num_groups", default=1)
    tensors |= dense("up", d_ff, width // groups) | dense("down", "d_model", d_ff // groups)
    narrow = c.size("embedding_size", default=width)
    more = {} if narrow == width else projected(narrow)
    return encoder(
        c, _tensors(tensors | _NORMS), positions=learned(c),
        token_types=token_types(c), pooled="never", **more,
    )  # fmt: skip


def mobilebert(c: Config) -> Tree:
    """arXiv:2004.02984: narrow layers between bottlenecks, a trigram of narrow embeddings."""
    c.only("masked", "body")
    c.ignore("normalization_type")
    width, narrow = c.size("hidden_size"), c.size("embedding_size")
    if narrow > width:
        c.refuse("embedding_size", f"{narrow} is above hidden_size {width}")
    tensors = {} if not c.flag("trigram_input", default=True) else dense(
        "trigram", "d_model", 2 * narrow, bias=False
    )  # fmt: skip
    if c.task != "body":
        tensors |= dense("transform", "d_model", "d_model") | layer_norm("transform_norm")
        if width != narrow:
            tensors |= dense("wide_output", "vocab", width - narrow, bias=False)
    return encoder(
        c, _tensors(_mobile(c, width)), positions=learned(c),
        token_types=token_types(c), tensors=tensors, untied=SECOND_BIAS,
        head={"transform": None}, embedding={"d_embed": narrow, "bias": True},
        pretraining=labels(2),
        pooled="body" if c.flag("classifier_activation", default=True) else "never",
    )  # fmt: skip


def _mobile(c: Config, width: int) -> Tree:
    """One layer: bottlenecks before and after, attention, and several FFNs between them."""
    bottled = c.flag("use_bottleneck", default=True)
    inner = c.size("intra_bottleneck_size") if bottled else width
    if c.size("true_hidden_size", default=inner) != inner:
        c.refuse("true_hidden_size", f"not the {inner} that the bottleneck leaves")
    d_ff = c.size("intermediate_size")
    heads = c.size("num_attention_heads")
    whole = heads * (inner // heads)
    within = c.flag("use_bottleneck_attention", default=False)
    tensors = dense("q", whole, inner) | dense("k", whole, inner)
    tensors |= dense("v", whole, inner if within else width)
    tensors |= dense("o", inner, inner) | layer_norm("attention_norm", inner)
    ffn = dense("up", d_ff, inner) | dense("down", inner, d_ff) | layer_norm("ffn_norm", inner)
    n = c.size("num_feedforward_networks", default=4)
    tensors |= {name: row | {"copies": n} for name, row in ffn.items()}
    if bottled:
        shared = c.flag("key_query_shared_bottleneck", default=True)
        for name in ("in", "attention_in") if shared else ("in",):
            tensors |= dense(name, inner, "d_model") | layer_norm(f"{name}_norm", inner)
        tensors |= dense("out", "d_model", inner) | layer_norm("out_norm")
    return tensors


def _tensors(tensors: Tree) -> Tree:
    """A block that no part describes."""
    return {"norm": "none", "partial": True, "tensors": tensors}
