"""Microsoft's Phi."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.mixtures import LOCAL, every_layer, mixture
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, plain, window
from txcalc.sources.readers.refusals import refuse_flags, refuse_other_head_dim
from txcalc.sources.readers.trees import noted


def phi(c: Config) -> Tree:
    """arXiv:2306.11644: attention and FFN side by side behind one LayerNorm, biases everywhere."""
    c.ignore("attention_bias")
    normed: Tree = {}
    if c.flag("qk_layernorm", default=False):
        refuse_other_head_dim(c)
        normed = {"qk_norm": "head", "qk_norm_kind": "layer"}
    return modern(
        c, norm="layer", placement="parallel", bias=True, ffn=plain(c, bias=True), head_bias=True,
        **normed,
    )  # fmt: skip


def phi3(c: Config) -> Tree:
    """arXiv:2404.14219: Llama's shapes without biases; a window in every layer if stated."""
    refuse_flags(c, "attention_bias", "mlp_bias", "lm_head_bias")
    return modern(c, bias=False, window=window(c))


def phi4_multimodal(c: Config) -> Tree:
    """arXiv:2503.01743: Phi-3's shapes; the towers for images and sound are left out."""
    c.ignore("vision_config", "audio_config")
    tree = modern(c, kv_default=8, bias=False, window=window(c)) | {"scope": "text"}
    return noted(tree, "left out: the vision and audio towers and their projections")


def phimoe(c: Config) -> Tree:
    """arXiv:2404.14219 section 2: LayerNorm, biases by flag, of the head too."""
    attend = attention(c, kv_default=8, window=window(c))
    moe = mixture(c, n_experts=LOCAL, top_k_default=2, width=["intermediate_size"])
    head_bias = c.flag("lm_head_bias", default=False)
    return every_layer(c, attend, moe, norm="layer", head_bias=head_bias)
