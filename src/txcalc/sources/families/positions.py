"""Which types rotate queries and keys (arXiv:2104.09864), and how many channels of a head.

Facts: the modeling and configuration files of transformers 5.24.0.  A type that stands nowhere here
has other positions, or none that are known: its description leaves them out.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any

from txcalc.sources.readers.config import Config, Tree

_WHOLE = """
Yi afmoe apertus apertus1p5_text arcee aria_text axk1 axk2 beam bitnet cohere cohere2 cohere2_moe
cwm dbrx deepseek deepseek-inference deepseek_v2 deepseek_v3 deepseek_v32 diffllama doge dots1
emu3_text_model ernie4_5 ernie4_5_moe eurobert exaone exaone4 exaone_moe falcon_h1 flex_olmo flint
gemma gemma2 gemma3_text gemma3n_text gemma4_text gemma4_unified_text glm_moe_dsa gpt_oss granite
granite_swa granitemoe granitemoe_swa granitemoeshared helium hrm_text hunyuan_v1_dense
hunyuan_v1_moe hy_v3 hy_v4 hy_v4_vl_text hyperclovax internlm internlm2 internlm3 iquestcoder jais2
jetmoe kimi_k2 kimi_k25 lfm2 lfm2_moe llama llama4_text longcat_flash meta-params mimo minicpm
minicpm3 ministral ministral3 mistral mistral-params mixtral mllama_text_model modernbert
modernbert-decoder moshi nanochat olmo olmo2 olmo3 olmoe paddleocr_vl_text phimoe qwen qwen2
qwen2_5_omni_text qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_moe qwen3_omni_moe_text
qwen3_vl_moe_text qwen3_vl_text sarvam_mla seed_oss smollm3 starcoder2 telechat vaultgemma
voxtral_realtime_text youtu yuan
"""
"""Types that rotate all channels of a head, or those of a latent's rotary key.

Gemma 4 turns some channels of its wide heads by no angle: its cosines are as wide as a head.
"""

_NONE = """
falcon_mamba jamba kimi_linear mamba mamba-ssm mamba2 nemotron_h rwkv xlstm zamba
"""
"""Types whose tokens have the order in which recurrences read them, and no positions beside it."""

_IF_STATED = {
    "granitemoehybrid": ("position_embedding_type", "rope"), "zamba2": ("use_mem_rope", True),
}  # fmt: skip
"""Types that rotate all channels where a key has a value, and have no positions elsewhere."""

_PARTS = {
    "bailing_moe": "1", "bailing_moe_v2": "1", "bamba": "0.5", "glm": "0.5", "glm4": "0.5",
    "glm4_moe": "0.5", "glm4_moe_lite": "1", "glm4v_moe_text": "0.5", "glm4v_text": "1",
    "glm_ocr_text": "1", "gpt_neox": "0.25", "gpt_neox_japanese": "1", "mellum": "1",
    "mimo_v2_flash": "0.334", "nemotron": "0.5", "persimmon": "0.5", "phi": "0.5", "phi3": "1",
    "phi4_multimodal": "1", "qwen3_5": "0.25", "qwen3_5_moe": "0.25", "qwen3_5_moe_text":
    "0.25", "qwen3_5_text": "0.25", "qwen3_next": "0.25", "recurrent_gemma": "0.5",
    "solar_open": "1", "stablelm": "0.25", "zaya": "0.5",
}  # fmt: skip
"""Types that rotate a share of each head, and the share where the file states none."""

_CHANNELS = {
    "codegen": 64, "deepseek_v4": 64, "gptj": 64, "minimax_m2": 64, "minimax_m3": 64,
    "minimax_m3_vl_text": 64, "mixformer-sequential": 32, "phi-msft": 32,
}  # fmt: skip
"""Types whose files state so many channels, and how many where they do not."""

_SHARE = ("partial_rotary_factor", "rotary_pct", "rope_pct")


def rotated(c: Config, type_: str, tree: Tree) -> Tree:
    """The same with rotary positions, or none, where the type has them so."""
    field = "layers" if "layers" in tree else "encoder"
    if field not in tree:
        return tree
    rotary = _rotary(c, type_, tree)
    alone = ("layers" in tree) != ("encoder" in tree)
    stated = tree[field].get("positions")
    if rotary is None or not alone or (stated and stated["kind"] != "rotary"):
        return tree
    return tree | {field: tree[field] | {"positions": rotary}}


def _rotary(c: Config, type_: str, tree: Tree) -> Tree | None:
    """The positions of a stack; None where they are others, or of several widths."""
    if type_ in _WHOLE.split():
        return {"kind": "rotary"}
    if type_ in _NONE.split():
        return {"kind": "none"}
    if type_ in _IF_STATED:
        key, value = _IF_STATED[type_]
        return {"kind": "rotary" if c.raw(key) == value else "none"}
    if type_ not in _PARTS and type_ not in _CHANNELS:
        return None
    heads = _head_dims(tree)
    if not heads:
        return {"kind": "rotary"}
    widths = {_width(c, type_, head_dim) for head_dim in heads}
    width = widths.pop()
    if widths or width is None or not 0 < width <= min(heads):
        return None
    return {"kind": "rotary"} | ({} if heads == {width} else {"width": width})


def _head_dims(tree: Tree) -> set[int]:
    """The widths of the heads, but for latent attention, whose rotary key has one of its own."""
    parts = [part for block in tree["blocks"].values() if (part := block.get("attention"))]
    return {
        part.get("head_dim") or tree["d_model"] // part["n_heads"]
        for part in parts
        if part["kind"] != "mla"
    }


def _width(c: Config, type_: str, head_dim: int) -> int | None:
    """Channels of a head that are rotated; None where kinds of layers differ."""
    if type_ in _CHANNELS and not c.has("partial_rotary_factor"):
        return c.size("rotary_dim", "qk_rope_head_dim", default=_CHANNELS[type_])
    if type_ == "phi" and c.has("rotary_dim") and not c.has("partial_rotary_factor"):
        return c.size("rotary_dim")
    shares = _shares(c)
    if len(shares) > 1:
        return None
    return int(head_dim * (shares.pop() if shares else Fraction(_PARTS.get(type_, "1"))))


def _shares(c: Config) -> set[Fraction]:
    """The shares that a file states: by itself, for the rotation, or for each kind of layer."""
    nested = [c.raw(name) for name in ("rope_parameters", "rope_scaling")]
    objects = [tree for tree in nested if isinstance(tree, dict)]
    objects += [tree for outer in objects for tree in outer.values() if isinstance(tree, dict)]
    stated = [tree["partial_rotary_factor"] for tree in objects if "partial_rotary_factor" in tree]
    shares = {Fraction(repr(share)) for share in stated if _is_number(share)}
    return shares | ({c.number(*_SHARE)} if any(c.has(name) for name in _SHARE) else set())


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and isfinite(value)
