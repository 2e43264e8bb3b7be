"""Vision transformers that stand alone, and towers of their line: ViT, BEiT, DINO, InternVL."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import given, lookup
from txcalc.sources.readers.vision import (
    MASK,
    ROTARY,
    SCALES,
    fixed,
    grid,
    heads,
    learned,
    plain,
    pooled_dense,
    side,
    tower,
)

_BACKBONE = (
    "out_features", "out_indices", "stage_names", "drop_path_rate", "apply_layernorm",
    "reshape_hidden_states",
)  # fmt: skip
"""Keys of training, and of what a detector reads of a tower."""


def vit(c: Config) -> Tree:
    """arXiv:2010.11929: a class token, a pooler over it, biases of q, k and v by flag."""
    return _vit(c, _pooler(c), class_tokens=1)


def deit(c: Config) -> Tree:
    """arXiv:2012.12877: ViT with a token more, which a teacher's labels train."""
    return _vit(c, _pooler(c), class_tokens=2)


def vit_msn(c: Config) -> Tree:
    """arXiv:2204.07141: ViT without a pooler."""
    return _vit(c, None, class_tokens=1)


def ijepa(c: Config) -> Tree:
    """arXiv:2301.08243: ViT without a class token and without a pooler."""
    c.ignore("pooler_output_size")
    return _vit(c, None, class_tokens=0)


def pixio(c: Config) -> Tree:
    """arXiv:2512.15715: several class tokens."""
    d_ff = c.size("hidden_size") * c.size("mlp_ratio")
    ffn = {"kind": "plain", "d_ff": d_ff, "bias": True}
    return _vit(c, None, class_tokens=c.size("n_cls_tokens"), ffn=ffn)


def _pooler(c: Config) -> Tree:
    return pooled_dense(c.size("pooler_output_size", default=c.size("hidden_size")))


def _vit(c: Config, pooler: Tree | None, *, class_tokens: int, ffn: Tree | None = None) -> Tree:
    c.ignore("encoder_stride", "pooler_act", *_BACKBONE)
    biased = True if c.flag("qkv_bias", default=True) else ["o"]
    return tower(
        c, attention=heads(c, bias=biased), ffn=ffn or plain(c), class_tokens=class_tokens,
        positions=learned(grid(c) + class_tokens), tensors=pooler, image=fixed(c),
    )  # fmt: skip


def beit(c: Config) -> Tree:
    """arXiv:2106.08254: no bias of keys, a learned score bias for each distance by flag."""
    return _beit(c, own_norm=True)


def data2vec(c: Config) -> Tree:
    """arXiv:2202.03555: BEiT's layers; its bare class has a pooler only where it is asked for."""
    return _beit(c, own_norm=False)


def _beit(c: Config, *, own_norm: bool) -> Tree:
    c.ignore("vocab_size", "pool_scales", "use_auxiliary_head", "auxiliary_loss_weight", "add_fpn")
    c.ignore("auxiliary_channels", "auxiliary_num_convs", "auxiliary_concat_input")
    c.ignore("semantic_loss_ignore_index", *_BACKBONE)
    absolute = c.flag("use_absolute_position_embeddings", default=False)
    means = c.flag("use_mean_pooling", default=True)
    scaled = c.number("layer_scale_init_value", default=1) > 0
    own, shared = (
        c.flag(f"use_{whose}relative_position_bias", default=False) for whose in ("", "shared_")
    )
    patches = side(c, "image_size") // side(c, "patch_size")
    bias = lookup((2 * patches - 1) ** 2 + 3, c.size("num_attention_heads"))
    block = (SCALES if scaled else {}) | ({"relative": bias} if own else {})
    masks = MASK if c.flag("use_mask_token", default=False) else {}
    return tower(
        c, attention=heads(c, bias=["q", "v", "o"]), ffn=plain(c), class_tokens=1,
        positions=learned(grid(c) + 1) if absolute else None, block=block or None,
        after="layer" if own_norm or not means else "none",
        tensors=masks | ({"relative": bias} if shared else {}), image=fixed(c),
    )  # fmt: skip


def dinov2(c: Config) -> Tree:
    """arXiv:2304.07193: factors of each channel, a gated FFN in the largest; registers by type."""
    d_model = c.size("hidden_size")
    wide = int(d_model * c.number("mlp_ratio", default=4))
    if c.flag("use_swiglu_ffn", default=False):
        ffn = {"kind": "glu", "d_ff": (wide * 2 // 3 + 7) // 8 * 8, "bias": True}
    else:
        ffn = {"kind": "plain", "d_ff": wide, "bias": True}
    masks = MASK if c.flag("use_mask_token", default=True) else {}
    return _dino(
        c, ffn, heads(c, bias=True if c.flag("qkv_bias", default=True) else ["o"]),
        positions=learned(grid(c) + 1), tensors=masks,
    )  # fmt: skip


def dinov3(c: Config) -> Tree:
    """arXiv:2508.10104: rotary positions, and biases by flag."""
    c.ignore("image_size", "pos_embed_rescale", "pos_embed_jitter", "pos_embed_shift")
    names = {"q": "query_bias", "k": "key_bias", "v": "value_bias", "o": "proj_bias"}
    biased = [short for short, key in names.items() if c.flag(key, default=short != "k")]
    kind = "glu" if c.flag("use_gated_mlp", default=False) else "plain"
    ffn = {"kind": kind, "d_ff": c.size("intermediate_size")}
    ffn |= given(bias=c.flag("mlp_bias", default=True))
    return _dino(c, ffn, heads(c, bias=biased), positions=ROTARY, tensors=MASK)


def _dino(c: Config, ffn: Tree, attention: Tree, positions: Tree, tensors: Tree) -> Tree:
    c.ignore("layerscale_value", *_BACKBONE)
    usual = 4 if c.type == "dinov2_with_registers" else 0
    registers = c.count("num_register_tokens", default=usual)
    return tower(
        c, attention=attention, ffn=ffn, positions=positions, class_tokens=1, block=SCALES,
        registers=registers or None, tensors=tensors, image={"kind": "whole"},
    )  # fmt: skip


def internvl(c: Config) -> Tree:
    """arXiv:2312.14238: BEiT's layers with norms, biases and positions by flag."""
    c.ignore("layer_scale_init_value", "projection_dropout", "drop_path_rate")
    norm = c.word("norm_type", default="layer_norm", known=("layer_norm", "rms_norm"))
    usual = c.type == "qianfan_ocr_vision"
    biased = True if c.flag("attention_bias", default=usual) else ["o"]
    normed = {"qk_norm": "width"} if c.flag("use_qk_norm", default=False) else {}
    absolute = c.flag("use_absolute_position_embeddings", default=True)
    means = c.flag("use_mean_pooling", default=True)
    masks = MASK if c.flag("use_mask_token", default=False) else {}
    return tower(
        c, attention=heads(c, bias=biased, **normed), ffn=plain(c), class_tokens=1,
        norm={"layer_norm": "layer", "rms_norm": "rms"}[norm], block=SCALES,
        positions=learned(grid(c) + 1) if absolute else None,
        after="none" if means else "layer", tensors=masks, image=fixed(c),
    )  # fmt: skip
