"""Gemma 1 to 3n: wide heads whose width is stated, embeddings tied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, kinds, n_layers
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, window
from txcalc.sources.readers.trees import tensor

HEAD_DIM = 256


def gemma(c: Config) -> Tree:
    """arXiv:2403.08295: Llama's shapes with heads of 256."""
    return modern(c, kv_default=16, head_dim=HEAD_DIM, tied=True)


def gemma2(c: Config) -> Tree:
    """arXiv:2408.00118: every other layer has a window; norms before and after each sub-layer."""
    return _alternating(c, lambda i: i % 2 == 0, placement="sandwich")


def gemma3(c: Config) -> Tree:
    """arXiv:2503.19786: five layers with a window to one without; q and k normed by head."""
    period = 6 if c.has("layer_types") else c.size("sliding_window_pattern", default=6)
    c.ignore("sliding_window_pattern", "_sliding_window_pattern")
    return _alternating(c, lambda i: (i + 1) % period != 0, placement="sandwich", qk_norm="head")


def vaultgemma(c: Config) -> Tree:
    """arXiv:2510.15001: Gemma 2 without the norms after its sub-layers."""
    return _alternating(c, lambda i: i % 2 == 0, placement="pre")


def _alternating(c: Config, slides: Callable[[int], bool], **differences: Any) -> Tree:
    c.ignore_all("use_bidirectional")
    return modern(
        c, kv_default=4, head_dim=HEAD_DIM, window=window(c, 4096), slides=slides, tied=True,
        **differences,
    )  # fmt: skip


def gemma3n(c: Config) -> Tree:
    """Published code of google/gemma-3n: the last layers take keys and values of earlier ones."""
    count, copies = n_layers(c), c.size("altup_num_inputs", default=4)
    shared = c.count("num_kv_shared_layers", default=15)
    c.ignore("activation_sparsity_pattern")
    c.ignore_all("altup_")
    attends = kinds(c, count, lambda i: "full" if (i + 1) % 5 == 0 else "sliding")
    widths, per_layer = _widths(c, count), c.size("hidden_size_per_layer_input", default=256)
    windows = {"full": None, "sliding": c.size("sliding_window", default=512)}
    blocks: dict[str, Tree] = {}
    layers = []
    for i, (kind, d_ff) in enumerate(zip(attends, widths, strict=True)):
        shares = shared > 0 and i >= count - shared
        name = f"{kind}_shared" if shares else kind
        name = name if len(set(widths)) == 1 else f"{name}_{d_ff}"
        blocks[name] = {
            "norm": "rms",
            "placement": "sandwich",
            "attention": attention(
                c, kv_default=2, head_dim=HEAD_DIM, qk_norm="head", window=windows[kind],
                shares_kv=shares,
            ),
            "ffn": {"kind": "glu", "d_ff": d_ff},
            "residual": {"kind": "altup", "n_copies": copies},
            "tensors": _low_rank(c) | per_layer_branch(per_layer),
        }  # fmt: skip
        layers.append(name)
    tree = decoder(c, blocks, layers, tied=True)
    rows = c.size("vocab_size_per_layer_input", default=262144)
    tree["tensors"] = per_layer_embeddings(rows, count, per_layer)
    if copies > 1:
        project = tensor("matmul", "d_model", "d_model", copies=copies - 1)
        tree["tensors"] |= {"altup_project": project, "altup_unproject": project}
    return tree


def _widths(c: Config, count: int) -> list[int]:
    """The FFN's width in each layer, by a list or by one number for all."""
    if isinstance(c.raw("intermediate_size"), list):
        return c.sizes("intermediate_size", length=count) or []
    return [c.size("intermediate_size")] * count


def _low_rank(c: Config) -> Tree:
    """The learned augmented residual of a layer."""
    rank = c.size("laurel_rank", default=64)
    return {
        "laurel_left": tensor("matmul", rank, "d_model"),
        "laurel_right": tensor("matmul", "d_model", rank),
        "laurel_norm": tensor("norm", "d_model"),
    }


def per_layer_branch(width: int) -> Tree:
    """What a layer does with an embedding of its own."""
    return {
        "per_layer_gate": tensor("matmul", width, "d_model"),
        "per_layer_up": tensor("matmul", "d_model", width),
        "per_layer_norm": tensor("norm", "d_model"),
    }


def per_layer_embeddings(rows: int, count: int, width: int) -> Tree:
    """The layers' own embeddings, from the token and from the stream."""
    return {
        "per_layer_tokens": tensor("lookup", rows, count * width),
        "per_layer_project": tensor("matmul", count * width, "d_model"),
        "per_layer_project_norm": tensor("norm", width),
    }
