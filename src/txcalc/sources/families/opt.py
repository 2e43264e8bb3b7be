"""OPT and other decoders of its time."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers
from txcalc.sources.readers.parts import glu, idle_cross_attention, learned, mha, plain
from txcalc.sources.readers.trees import tensor


def opt(c: Config) -> Tree:
    """arXiv:2205.01068: the position table has two rows more; the 350M model has norms after."""
    c.ignore("output_projection")
    before = c.flag("do_layer_norm_before", default=True)
    norm = "layer" if c.flag("layer_norm_elementwise_affine", default=True) else "none"
    bias = c.flag("enable_bias", default=True)
    block = {
        "norm": norm,
        "placement": "pre" if before else "post",
        "attention": mha(c.size("num_attention_heads"), bias=bias),
        "ffn": plain(c, width="ffn_dim", bias=bias),
    }
    last = before and not c.flag("_remove_final_layer_norm", default=False)
    described = _decoder(
        c, block, n_layers(c), final_norm=norm if last else "none", positions=learned(c, 2, 2048)
    )
    narrow = c.maybe("word_embed_proj_dim")
    return described if narrow in (None, c.size("hidden_size")) else _projected(described, narrow)


def _projected(described: Tree, narrow: int) -> Tree:
    """The same around a token table of another width, with a projection in and one out."""
    if "head" in described:
        described["head"] |= {"transform": "none", "transform_bias": False}
    else:
        described["tensors"] = {"project_out": tensor("matmul", narrow, "d_model")}
    return described | {"embedding": {"d_embed": narrow}}


def biogpt(c: Config) -> Tree:
    """doi:10.1093/bib/bbac409: GPT-2 in the names and with the positions of OPT."""
    attend = mha(c.size("num_attention_heads"), bias=True)
    block = {"norm": "layer", "attention": attend, "ffn": plain(c, bias=True)}
    return _decoder(c, block, n_layers(c), positions=learned(c, 2))


def xglm(c: Config) -> Tree:
    """arXiv:2112.10668: sinusoidal positions."""
    block = {
        "norm": "layer",
        "attention": mha(c.size("attention_heads", "num_attention_heads"), bias=True),
        "ffn": plain(c, width="ffn_dim", bias=True),
        **idle_cross_attention(c),
    }
    return _decoder(
        c, block, n_layers(c, "num_layers", "num_hidden_layers"),
        positions={"kind": "sinusoidal"}, width=("d_model", "hidden_size"),
    )  # fmt: skip


def cpmant(c: Config) -> Tree:
    """CPM-Ant: prompts that go before every text, one table of relative and segment biases.

    A pass runs over the prompt's tokens too, but not its head, which no part knows.
    """
    c.ignore("position_bias_max_distance", "tie_word_embeddings")
    heads, segments = c.size("num_attention_heads"), c.size("segment_types", default=32)
    buckets = c.size("position_bias_num_buckets", default=512) + segments**2
    prompts = c.count("prompt_types", default=32) * c.count("prompt_length", default=32)
    block = {
        "norm": "rms",
        "attention": mha(heads, head_dim=c.size("dim_head")),
        "ffn": glu(c, width="dim_ff"),
        "partial": prompts > 0,
    }
    described = _decoder(
        c, block, n_layers(c), final_norm="rms",
        positions={"kind": "relative", "n_buckets": buckets, "n_heads": heads},
    )  # fmt: skip
    described["layers"] |= {"vocab": c.size("vocab_size") + prompts, "token_types": segments}
    if "head" in described:
        described["head"] = {"tied": False}
    return described


def _decoder(c: Config, block: Tree, count: int, **more: Any) -> Tree:
    c.only("causal", "body")
    return decoder(c, {"decoder": block}, count, **{"tied": True, "final_norm": "layer", **more})
