"""Encoders made small or fast: DistilBERT, MPNet, MobileBERT, SqueezeBERT, ConvBERT."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import (
    SECOND_BIAS,
    dense,
    encoder,
    labels,
    layer,
    learned,
    lookup,
    norm,
)
from txcalc.sources.readers.layers import n_layers


def distilbert(c: Config) -> Tree:
    """arXiv:1910.01108: BERT without token types and pooler."""
    c.only("masked", "body")
    c.ignore("sinusoidal_pos_embds", "tie_weights_")
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": {
            "kind": "mha",
            "n_heads": c.size("n_heads", "num_attention_heads"),
            "bias": True,
        },
        "ffn": {"kind": "plain", "d_ff": c.size("hidden_dim"), "bias": True},
    }
    return encoder(
        c, block, n_layers(c, "n_layers", "num_hidden_layers"), positions=learned(c),
        pooled="never", width=("dim", "hidden_size"),
    )  # fmt: skip


def mpnet(c: Config) -> Tree:
    """arXiv:2004.09297: no token types, and a table of biases by distance for all layers."""
    c.only("masked", "body")
    buckets = c.size("relative_attention_num_buckets", default=32)
    distances = {"distances": lookup(buckets, c.size("num_attention_heads"))}
    return encoder(
        c, layer(c, decodes=False), positions=learned(c), tensors=distances, untied=SECOND_BIAS
    )


def squeezebert(c: Config) -> Tree:
    """arXiv:2006.11316: projections that see a group of channels each."""
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
        c, _tensors(tensors | norm("attention_norm") | norm("ffn_norm")), positions=learned(c),
        token_types=c.count("type_vocab_size", default=2), pooled="always", untied=SECOND_BIAS,
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
    more: Tree = (
        {} if narrow == width else {"embedding": {"d_embed": narrow, "bias": True, "all": True}}
    )
    return encoder(
        c, _tensors(tensors | norm("attention_norm") | norm("ffn_norm")), positions=learned(c),
        token_types=c.count("type_vocab_size", default=2), pooled="never", **more,
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
        tensors |= dense("transform", "d_model", "d_model") | norm("transform_norm")
        if width != narrow:
            tensors |= dense("wide_output", "vocab", width - narrow, bias=False)
    return encoder(
        c, _tensors(_mobile(c, width)), positions=learned(c),
        token_types=c.count("type_vocab_size", default=2), tensors=tensors, untied=SECOND_BIAS,
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
    found = dense("q", whole, inner) | dense("k", whole, inner)
    found |= dense("v", whole, inner if within else width)
    found |= dense("o", inner, inner) | norm("attention_norm", inner)
    ffn = dense("up", d_ff, inner) | dense("down", inner, d_ff) | norm("ffn_norm", inner)
    n = c.size("num_feedforward_networks", default=4)
    found |= {name: tensor | {"copies": n} for name, tensor in ffn.items()}
    if bottled:
        shared = c.flag("key_query_shared_bottleneck", default=True)
        for name in ("in", "attention_in") if shared else ("in",):
            found |= dense(name, inner, "d_model") | norm(f"{name}_norm", inner)
        found |= dense("out", "d_model", inner) | norm("out_norm")
    return found


def _tensors(tensors: Tree) -> Tree:
    """A block that no part describes."""
    return {"norm": "none", "partial": True, "tensors": tensors}
