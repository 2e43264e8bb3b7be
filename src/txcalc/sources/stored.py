"""The format that a file says its weights are stored in, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_METHODS = {
    "awq": "AWQ", "bitsandbytes": "bitsandbytes", "fp8": "fp8", "gptq": "GPTQ", "mxfp4": "mxfp4",
}  # fmt: skip


def stored_as(config: Any) -> str:
    """A ``quantization_config`` in words: ``AWQ, 4 bits, group size 128``; empty for none.

    What it does not state stays out: a method without bits is a name alone.
    """
    if not isinstance(config, Mapping) or not config:
        return ""
    method = config.get("quant_method") or config.get("quant_algo")
    name = _METHODS.get(str(method), str(method)) if _is_word(method) else "a format without a name"
    return ", ".join([name, *_details({**config, **_weights(config)})])


def _weights(config: Mapping[str, Any]) -> dict[str, Any]:
    """What compressed-tensors says of the weights, where all groups say the same."""
    groups = config.get("config_groups")
    if not isinstance(groups, Mapping):
        return {}
    found = [g.get("weights") for g in groups.values() if isinstance(g, Mapping)]
    first = found[0] if found else None
    return dict(first) if isinstance(first, Mapping) and all(w == first for w in found) else {}


def _details(config: Mapping[str, Any]) -> list[str]:
    bits = next((config[key] for key in ("bits", "num_bits") if _is_count(config.get(key))), None)
    for flag, width in (("load_in_4bit", 4), ("load_in_8bit", 8)):
        if config.get(flag) is True:
            bits = width
    details = [] if bits is None else [f"{bits} bits"]
    kinds = ("bnb_4bit_quant_type",) * (bits == 4) + ("fmt", "format")
    details += [str(kind) for key in kinds if _is_word(kind := config.get(key))]
    if _is_count(config.get("group_size")):
        details.append(f"group size {config['group_size']}")
    block = config.get("weight_block_size")
    if isinstance(block, list) and block and all(map(_is_count, block)):
        details.append(f"blocks of {' x '.join(map(str, block))}")
    return details


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value < 10**6


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 40
