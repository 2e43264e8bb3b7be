"""Towers of Llama 3.2 and Llama 4."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import dense, tensor
from txcalc.sources.readers.vision import grid, heads, learned, merged_side, plain, side, tower
from txcalc.sources.towers import tower as read


def mllama(c: Config) -> Tree:
    """arXiv:2407.21783 section 7.1: gated layers after plain ones, tables for shapes of tiles."""
    c.ignore("intermediate_layers_indices", "max_aspect_ratio_id")
    ratios = c.raw("supported_aspect_ratios")
    shapes = (len(ratios) if isinstance(ratios, list) else 8) + 1
    d_model, tiles, rows = c.size("hidden_size"), c.size("max_num_tiles"), grid(c) + 1
    tables = {
        "tile_positions": tensor("lookup", shapes, tiles * rows * d_model),
        "tiles_before": tensor("lookup", shapes, tiles * d_model),
        "tiles_after": tensor("lookup", shapes, tiles * d_model),
        "gates": tensor("elementwise", 1, copies=3),
        "norm_after": tensor("norm", "d_model"),
        "norm_after_bias": tensor("norm", "d_model"),
    }
    tree = tower(
        c, attention=heads(c, key="attention_heads", bias=False), ffn=plain(c), class_tokens=1,
        positions=learned(rows), before="layer", after="none", patch_bias=False, tensors=tables,
        image={"kind": "padded", "tile": side(c, "image_size"), "tiles": tiles},
    )  # fmt: skip
    local, n_global = tree["blocks"]["encoder"], c.count("num_global_layers")
    gated = local | {"tensors": {"gates": tensor("elementwise", 1, copies=2)}}
    stack = tree["layers"] | {
        "count": tree["layers"]["count"] + n_global,
        "pattern": ["local"],
        "last": ["global"] * n_global,
    }
    return tree | {"blocks": {"local": local, "global": gated}, "layers": stack}


def llama4(c: Config) -> Tree:
    """Published code of Llama 4: an adapter over four patches side by side."""
    c.ignore("vision_feature_select_strategy", "multi_modal_projector_bias", "pixel_shuffle_ratio")
    narrow, out = c.size("projector_input_dim"), c.size("projector_output_dim")
    adapter = {
        "adapter_up": tensor("matmul", narrow, c.size("intermediate_size"), stream="projected"),
        "adapter_down": tensor("matmul", out, out, stream="projected"),
    }
    return tower(
        c, attention=heads(c), ffn=plain(c), class_tokens=1,
        positions=learned(grid(c) + 1), before="layer", patch_bias=False, tensors=adapter,
        image={"kind": "canvas", "tile": side(c, "image_size"), "max_tiles": 16},
    )  # fmt: skip


def mllama_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """Llama 3.2: five inner layers and the last side by side, and one matrix."""
    vision = read(c, "vision_config", "mllama_vision_model")
    wide = c.needed("vision_config").size("vision_output_dim")
    joined = {"with_class": True, "tensors": dense("linear", d_model, wide)}
    return {"vision": vision | {"projector": joined}}


def llama4_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """Llama 4: one matrix over what the adapter makes."""
    vision = read(c, "vision_config", "llama4_vision_model")
    wide = c.needed("vision_config").size("vision_output_dim")
    merge = merged_side(c.needed("vision_config"), "pixel_shuffle_ratio")
    linear = {"linear": tensor("matmul", d_model, wide)}
    return {"vision": vision | {"projector": {"merge": merge, "tensors": linear}}}
