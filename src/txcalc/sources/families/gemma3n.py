"""Gemma 3n: alternating updates, low-rank branches, and an embedding for each layer."""

from __future__ import annotations

from txcalc.sources.families.gemma import HEAD_DIM
from txcalc.sources.readers.common import attention
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import ATTENTION, decoder, kinds, n_layers


def gemma3n(c: Config) -> Tree:
    """Published code of google/gemma-3n: the last layers take keys and values of earlier ones."""
    count, copies = n_layers(c), c.size("altup_num_inputs", default=4)
    shared = c.count("num_kv_shared_layers", default=15)
    c.ignore("activation_sparsity_pattern", "final_logit_softcapping")
    c.ignore_all("altup_")
    attends = kinds(c, count, lambda i: "full" if (i + 1) % 5 == 0 else "sliding", known=ATTENTION)
    widths = _widths(c, count)
    window = c.size("sliding_window", default=512)
    blocks: dict[str, Tree] = {}
    layers = []
    for i, (kind, d_ff) in enumerate(zip(attends, widths, strict=True)):
        shares = shared > 0 and i >= count - shared
        name = f"{kind}_shared" if shares else kind
        name = name if len(set(widths)) == 1 else f"{name}_{d_ff}"
        blocks[name] = _block(c, d_ff, copies, shares, window if kind == "sliding" else None)
        layers.append(name)
    tree = decoder(c, blocks, layers, tied=True)
    return tree | {"tensors": _around(c, count, copies)}


def _widths(c: Config, count: int) -> list[int]:
    """The FFN's width in each layer, by a list or by one number for all."""
    if isinstance(c.raw("intermediate_size"), list):
        return c.sizes("intermediate_size", length=count) or []
    return [c.size("intermediate_size")] * count


def _block(c: Config, d_ff: int, copies: int, shares: bool, window: int | None) -> Tree:
    rank, per_layer = c.size("laurel_rank", default=64), _per_layer(c)
    return {
        "norm": "rms",
        "placement": "sandwich",
        "attention": attention(
            c,
            kv_default=2,
            head_dim=HEAD_DIM,
            bias=c.flag("attention_bias", default=False),
            qk_norm="head",
            window=window,
            shares_kv=shares,
        ),
        "ffn": {"kind": "glu", "d_ff": d_ff},
        "residual": {"kind": "altup", "n_copies": copies},
        "tensors": {
            "laurel_left": {"use": "matmul", "dims": [rank, "d_model"]},
            "laurel_right": {"use": "matmul", "dims": ["d_model", rank]},
            "laurel_norm": {"use": "norm", "dims": ["d_model"]},
            "per_layer_gate": {"use": "matmul", "dims": [per_layer, "d_model"]},
            "per_layer_up": {"use": "matmul", "dims": ["d_model", per_layer]},
            "per_layer_norm": {"use": "norm", "dims": ["d_model"]},
        },
    }


def _around(c: Config, count: int, copies: int) -> Tree:
    """The layers' own embeddings, and the projections onto the copies of the stream and back."""
    per_layer = _per_layer(c)
    rows = c.size("vocab_size_per_layer_input", default=262144)
    around: Tree = {
        "per_layer_tokens": {"use": "lookup", "dims": [rows, count * per_layer]},
        "per_layer_project": {"use": "matmul", "dims": [count * per_layer, "d_model"]},
        "per_layer_project_norm": {"use": "norm", "dims": [per_layer]},
    }
    if copies > 1:
        project = {"use": "matmul", "dims": ["d_model", "d_model"], "copies": copies - 1}
        around |= {"altup_project": project, "altup_unproject": project}
    return around


def _per_layer(c: Config) -> int:
    return c.size("hidden_size_per_layer_input", default=256)
