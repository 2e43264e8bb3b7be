"""In which format a checkpoint is stored, from the quantization_config of its config.json."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from txcalc.errors import RefusedError

Tree = Mapping[str, Any]

_DTYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
_WIDE = re.compile(r"lm_head|embed|norm|router|e_score|vision|visual|(^|[._*])(\w+_)?gate$")
"""Modules that no scheme holds, and those of towers, which are not counted."""
_ROLES = {
    "attention": re.compile(r"self_attn|attention|attn"),
    "shared": re.compile(r"shared_expert"),
    "experts": re.compile(r"experts"),
    "ffn": re.compile(r"mlp"),
}
_PARTIAL = re.compile(r"layers\.\d|linear_attn|_proj$|mamba|mixer")
"""Modules that are some of a role's weights alone."""


def stored_of(tree: Tree, file: str) -> tuple[dict[str, str], list[str]]:
    """The field of a description, and a warning where the format is not known."""
    text = tree.get("text_config")
    inner: Tree = text if isinstance(text, dict) else {}
    config = tree.get("quantization_config") or inner.get("quantization_config")
    if not config:
        return {}, []
    dtype = (tree.get("torch_dtype") or tree.get("dtype") or inner.get("torch_dtype")
             or inner.get("dtype"))  # fmt: skip
    try:
        return {"stored": stored_format(config, str(dtype))}, []
    except RefusedError as error:
        return {}, [f"{file}: quantization_config: {error}: --weights own is not there"]


def stored_format(config: object, dtype: str = "") -> str:
    """``--weights`` as a ``quantization_config`` has it; ``dtype`` is that of all other weights.

    Raises:
        RefusedError: naming what of it is not known.
    """
    if not isinstance(config, Mapping):
        raise RefusedError(f"{str(config)[:40]!r} is no table of settings")
    method = config.get("quant_method")
    match method:
        case "fp8":
            return _with_wide(_fp8(config), config.get("modules_to_not_convert")
                              or config.get("ignored_layers"), dtype)  # fmt: skip
        case "gptq" | "awq":
            return _with_wide(_grouped(method, config), config.get("modules_to_not_convert"), dtype)
        case "mxfp4":
            return _with_wide("mxfp4", config.get("modules_to_not_convert"), "")
        case "bitsandbytes":
            return _with_wide(_bitsandbytes(config), config.get("llm_int8_skip_modules"), dtype)
        case "compressed-tensors":
            return _with_wide(_compressed(config), config.get("ignore"), dtype)
        case _:
            raise RefusedError(f"quant_method {method!r} is not known")


def _fp8(config: Tree) -> str:
    block = config.get("weight_block_size")
    if block is None:
        return "fp8-tensor"
    return "fp8-128x128" if block == [128, 128] else _refuse("weight_block_size", block)


def _grouped(method: str, config: Tree) -> str:
    """4 bits with a scale for each group of inputs."""
    bits, group = config.get("bits", config.get("w_bit")), config.get("group_size")
    group = config.get("q_group_size") if group is None else group
    if bits != 4:
        _refuse("bits", bits)
    if not isinstance(group, int) or group < 1:
        _refuse("group_size", group)
    if config.get("dynamic"):
        _refuse("dynamic", config["dynamic"])
    if method == "awq" and str(config.get("version", "gemm")).lower() != "gemm":
        _refuse("version", config["version"])
    return f"{method}-g{group}"


def _bitsandbytes(config: Tree) -> str:
    if config.get("load_in_8bit"):
        return "bnb-int8"
    if not config.get("load_in_4bit"):
        raise RefusedError("neither load_in_8bit nor load_in_4bit is set")
    kind = config.get("bnb_4bit_quant_type", "fp4")
    if kind != "nf4":
        _refuse("bnb_4bit_quant_type", kind)
    return "bnb-nf4-dq" if config.get("bnb_4bit_use_double_quant") else "bnb-nf4"


def _compressed(config: Tree) -> str:
    """One group of settings for all linear layers."""
    groups = config.get("config_groups")
    if not isinstance(groups, Mapping) or len(groups) != 1:
        _refuse("config_groups", groups)
    [group] = groups.values()
    if not isinstance(group, Mapping) or group.get("targets") != ["Linear"]:
        _refuse("targets", group)
    weights = group.get("weights")
    if not isinstance(weights, Mapping):
        _refuse("weights", weights)
    names = ("type", "num_bits", "strategy", "group_size", "symmetric", "block_structure")
    kind, bits, strategy, size, symmetric, block = (weights.get(name) for name in names)
    match kind, bits, strategy:
        case "float", 8, "channel" | "tensor":
            return f"fp8-{strategy}"
        case "float", 8, "block" if block in ([128, 128], "128x128"):
            return "fp8-128x128"
        case "int", 8, "channel":
            return "int8-channel"
        case "int", 4, "group" if isinstance(size, int) and size > 0 and symmetric:
            return f"int4-g{size}"
        case "float", 4, "tensor_group" if size == 16:
            return "nvfp4"
        case _:
            _refuse("weights", dict(weights))


def _with_wide(scheme: str, modules: object, dtype: str) -> str:
    """A scheme with the roles that are left in ``dtype``; "" where it holds none of them anyway."""
    if modules is None:
        return scheme
    if not isinstance(modules, Iterable) or isinstance(modules, str | bytes | Mapping):
        _refuse("modules left out", modules)
    roles = dict.fromkeys(role for module in modules if (role := _role(module)))
    if scheme == "mxfp4":
        if "experts" in roles:
            raise RefusedError("experts are left out of mxfp4, which holds nothing else")
        return scheme
    if roles and dtype not in _DTYPES:
        raise RefusedError(f"torch_dtype {dtype!r} is not known, but some weights are left in it")
    return ",".join([scheme, *(f"{role}={_DTYPES[dtype]}" for role in roles)])


def _role(module: object) -> str:
    """The role that a module's name, or pattern of names, is all of; "" where no scheme holds it.

    Raises:
        RefusedError: a name that is no role's, or of some of its weights alone.
    """
    name = str(module)
    if "(gate|up" in name or "(gate_up|" in name:
        name = name.partition("(")[0]
    name = name.removeprefix("re:").rstrip(".*$").replace("\\", "")
    if _WIDE.search(name) or not name:
        return ""
    if _PARTIAL.search(name):
        raise RefusedError(f"modules are left out one by one: {str(module)[:60]!r}")
    for role, pattern in _ROLES.items():
        if pattern.search(name):
            return role
    raise RefusedError(f"a module of unknown role is left out: {str(module)[:60]!r}")


def _refuse(field: str, value: object) -> NoReturn:
    raise RefusedError(f"{field} {str(value)[:60]} is not known")
