"""Descriptions of the small models whose training was measured."""

from __future__ import annotations

from typing import Any

Tree = dict[str, Any]


def described(config: dict[str, int], family: str) -> Tree:
    """A model of a family: ``gpt`` (LayerNorm, biases, tied), ``llama`` or ``moe``."""
    gpt, c = family == "gpt", config
    attention: Tree = {"kind": "mha", "n_heads": c["heads"], "head_dim": c["hd"], "bias": gpt}
    if c["kv"] != c["heads"]:
        attention |= {"kind": "gqa", "n_kv_heads": c["kv"]}
    norm = "layer" if gpt else "rms"
    learned = {"kind": "learned", "n_positions": c["T"]}
    return {
        "name": "row", "source": "measured", "d_model": c["d"], "vocab": c["V"], "context": c["T"],
        "blocks": {"b": {"norm": norm, "attention": attention, "ffn": _ffn(c, family)}},
        "layers": {
            "count": c["L"], "pattern": ["b"], "final_norm": norm,
            "positions": learned if gpt else {"kind": "rotary"},
        },
        "head": {"tied": gpt},
    }  # fmt: skip


def _ffn(config: dict[str, int], family: str) -> Tree:
    width = config["ff"]
    if family == "gpt":
        return {"kind": "plain", "d_ff": width, "bias": True}
    if family == "moe":
        experts = {"n_experts": config["E"], "top_k": config["k"]}
        return {"kind": "moe", "d_expert": width, **experts}
    return {"kind": "glu", "d_ff": width}
