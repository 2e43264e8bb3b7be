"""Whole models that merge patches of a SigLIP-like tower: Aya, Command, DeepSeek-VL, MiniMax."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import dense, given, tensor
from txcalc.sources.readers.vision import (
    ROTARY,
    fixed,
    grid,
    heads,
    learned,
    merged_side,
    mlp,
    norm,
    plain,
    tower,
)
from txcalc.sources.towers import tower as read

Towers = dict[str, Tree]


def rotated_siglip(c: Config) -> Tree:
    """Published code of VideoLLaMA 3 (arXiv:2501.13106): SigLIP with rotary positions."""
    c.ignore("image_size")
    return tower(c, attention=heads(c), ffn=plain(c), positions=ROTARY)


def paddle_siglip(c: Config) -> Tree:
    """Published code of PaddleOCR-VL (arXiv:2510.14528): both kinds of positions."""
    c.ignore("spatial_merge_size", "temporal_patch_size", "tokens_per_second")
    return tower(c, attention=heads(c), ffn=plain(c), positions=learned(grid(c)))


def minimax(c: Config) -> Tree:
    """Published code of MiniMax-M3: CLIP's layers with rotary positions, two frames a patch."""
    c.ignore("image_size")
    merge = c.size("spatial_merge_size", default=2)
    frames = c.size("temporal_patch_size", default=2)
    area = {"kind": "area", "min_pixels": 4 * 28 * 28, "max_pixels": 451584}
    return tower(
        c, attention=heads(c), ffn=plain(c), positions=ROTARY, before="layer", after="none",
        patch_bias=False, frames=frames, image=area, projector={"merge": merge},
    )  # fmt: skip


def minimax_whole(c: Config, d_model: int) -> Towers:
    """MiniMax-M3: two matrices over patches, four side by side, two matrices over them."""
    vision = read(c, "vision_config", "minimax_m3_vl_vision")
    merge, middle = vision["projector"]["merge"], c.size("projector_hidden_size", default=d_model)
    rows = mlp(d_model, vision["d_model"], middle, stream="source")
    names = ("merge_linear_1", "merge_linear_2")
    rows |= mlp(d_model, d_model * merge * merge, middle, names=names)
    return _joined(vision, rows, merge=merge)


def video_llama_3(c: Config, d_model: int) -> Towers:
    """arXiv:2501.13106 section 2.2: two matrices; neighbours are averaged in videos alone."""
    vision = read(c, "vision_config", "video_llama_3_vision")
    area = {"kind": "area", "min_pixels": 56 * 56, "max_pixels": 28 * 28 * 1280}
    return _joined(vision | {"image": area}, mlp(d_model, vision["d_model"]))


def paddleocr_vl(c: Config, d_model: int) -> Towers:
    """arXiv:2510.14528: a norm, four patches side by side, two matrices."""
    vision = read(c, "vision_config", "paddleocr_vl_vision")
    merge = c.needed("vision_config").size("spatial_merge_size", default=2)
    merged = vision["d_model"] * merge**2
    return _joined(
        vision, norm("norm", vision["d_model"]) | mlp(d_model, merged, merged), merge=merge
    )


def qianfan_ocr(c: Config, d_model: int) -> Towers:
    """Published code of Qianfan-OCR: InternVL's tower and projector."""
    vision = read(c, "vision_config", "qianfan_ocr_vision")
    merge = merged_side(c, "downsample_ratio")
    merged = vision["d_model"] * merge**2
    return _joined(_unruled(vision), norm("norm", merged) | mlp(d_model, merged), merge=merge)


def hyperclovax(c: Config, d_model: int) -> Towers:
    """Published code of HyperCLOVA X Vision: Qwen2.5-VL's tower with its merger, one matrix."""
    vision = read(c, "vision_config", "qwen2_5_vl_vision")
    merger = vision["projector"]["tensors"]
    out = merger["linear_2"]["dims"][0]
    rows = {
        f"merger_{name}": row | ({"stream": "projected"} if row["use"] == "matmul" else {})
        for name, row in merger.items()
    }
    vision = _unruled(vision) | {"tensors": rows}
    return _joined(vision, dense("linear", d_model, out), merge=vision["projector"]["merge"])


def deepseek_vl(c: Config, d_model: int) -> Towers:
    """arXiv:2403.05525 section 3.1: two matrices over each patch."""
    vision = read(c, "vision_config", "siglip_vision_model")
    return _joined(vision, mlp(d_model, vision["d_model"]))


def aya_vision(c: Config, d_model: int) -> Towers:
    """arXiv:2505.08751: four patches side by side, a norm, and a gate of half the width."""
    vision = read(c, "vision_config", "siglip_vision_model")
    wide = c.size("alignment_intermediate_size", default=d_model)
    return _gated(c, vision, d_model, wide, rule="shape", normed=True)


def cohere2_vision(c: Config, d_model: int) -> Towers:
    """Published code of Command A Vision: the same without the norm."""
    vision = read(c, "vision_config", "siglip_vision_model")
    wide = c.size("alignment_intermediate_size", default=36864)
    return _gated(c, vision, d_model, wide, rule="cover", normed=False)


def _gated(c: Config, vision: Tree, d_model: int, wide: int, *, rule: str, normed: bool) -> Towers:
    merge, tile = c.size("downsample_factor", default=2), vision["image"]["height"]
    merged = vision["d_model"] * merge**2
    rows = norm("norm", merged) if normed else {}
    rows |= dense("linear_1", wide, merged) | dense("linear_2", d_model, wide // 2)
    tiles = {"kind": rule, "tile": tile, "max_tiles": 12, "marks": 2, "tile_marks": 1}
    return _joined(vision | {"image": tiles}, rows, merge=merge)


def blip(c: Config) -> Tree:
    """arXiv:2301.12597 section 3.1: EVA's ViT-g."""
    biased = True if c.flag("qkv_bias", default=True) else ["o"]
    return tower(
        c, attention=heads(c, bias=biased), ffn=plain(c), class_tokens=1, image=fixed(c),
        positions=learned(grid(c) + 1),
    )  # fmt: skip


def blip_2(c: Config, d_model: int) -> Towers:
    """arXiv:2301.12597 section 3.1: queries that attend to the tower in every other layer."""
    c.ignore("image_text_hidden_size", "use_decoder_only_language_model")
    vision = read(c, "vision_config", f"{c.type.replace('-', '_')}_vision_model")
    return {"vision": vision | {"projector": _qformer(c, vision, d_model)}}


def instructblip(c: Config, d_model: int) -> Towers:
    """arXiv:2305.06500 section 2.3: the same, with tables and networks for the instruction."""
    towers = blip_2(c, d_model)
    side = towers["vision"]["projector"]
    former = c.needed("qformer_config")
    words, rows = former.size("vocab_size"), former.size("max_position_embeddings")
    side["tensors"] |= {
        "words": tensor("lookup", words, side["d_model"]),
        "word_positions": tensor("lookup", rows, side["d_model"]),
    }
    wide = former.size("intermediate_size")
    text = dense("text_up", wide, "d_model") | dense("text_down", "d_model", wide)
    text = {
        n: row | ({"stream": "none"} if row["use"] == "matmul" else {}) for n, row in text.items()
    }
    for block in side["blocks"].values():
        block["tensors"] = text | norm("text_norm", "d_model")
    return {"vision": _unruled(towers["vision"])}


def _qformer(c: Config, vision: Tree, d_model: int) -> Tree:
    former = c.inner("qformer_config") or c.absent("qformer_config")
    former.usual = _QFORMER
    former.ignore("model_type", "use_qformer_text_input")
    width = former.size("hidden_size")
    if former.size("encoder_hidden_size", default=vision["d_model"]) != vision["d_model"]:
        former.refuse("encoder_hidden_size", "it is not the tower's hidden_size")
    attend = heads(former)
    plain_block = {"norm": "layer", "placement": "post", "attention": attend, "ffn": plain(former)}
    every = former.size("cross_attention_frequency", default=2)
    count = former.size("num_hidden_layers")
    names = ["crossing" if i % every == 0 else "own" for i in range(count)]
    blocks = {"crossing": plain_block | {"cross_attention": attend}, "own": plain_block}
    if len(set(names)) == 1:
        del blocks["own"]
    else:
        former.ignore("vocab_size", "max_position_embeddings", "position_embedding_type")
    return {
        "d_model": width,
        "queries": c.size("num_query_tokens", default=32),
        "with_class": True,
        "blocks": blocks,
        "layers": {**_repeated(names, every), "embedding_norm": "layer"},
        "tensors": dense("linear", d_model, "d_model"),
    }


def _repeated(names: list[str], every: int) -> Tree:
    return {"count": len(names), "pattern": names[:every]}


_QFORMER = {
    "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512,
}  # fmt: skip


def _unruled(vision: Tree) -> Tree:
    """A tower whose rule of sizes is not known."""
    return {name: field for name, field in vision.items() if name != "image"}


def _joined(vision: Tree, tensors: Tree, **fields: object) -> Towers:
    return {"vision": vision | {"projector": {**given(**fields), "tensors": tensors}}}
