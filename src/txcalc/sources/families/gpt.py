"""GPT, GPT-2 and their first successors: LayerNorm, FFNs of two matrices, biases."""

from __future__ import annotations

from itertools import chain
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers
from txcalc.sources.readers.parts import idle_cross_attention, learned, mha, plain

_WIDTH = ("n_embd", "hidden_size")
_HEADS = ("n_head", "num_attention_heads")
_LAYERS = ("n_layer", "num_hidden_layers")
_LIMIT = ("n_positions", "max_position_embeddings")


def gpt2(c: Config) -> Tree:
    """Radford et al. 2019: learned positions, norms before each sub-layer and after the last."""
    attend = mha(c.size(*_HEADS), bias=True)
    block = {"norm": "layer", "attention": attend, "ffn": _wide(c, "n_inner")}
    return _learned(c, block | idle_cross_attention(c), tied=True)


def gpt_bigcode(c: Config) -> Tree:
    """arXiv:2305.06161 (StarCoder): GPT-2 with one KV head where the file says multi_query."""
    heads, shared = c.size(*_HEADS), c.flag("multi_query", default=True)
    c.ignore("num_key_value_heads", "inference_runner")
    if shared and c.flag("add_cross_attention", default=False):
        c.refuse("add_cross_attention", "the class has none beside multi_query")
    attend = mha(heads, 1 if shared else heads, bias=True)
    block = {"norm": "layer", "attention": attend, "ffn": _wide(c, "n_inner")}
    return _learned(c, block | idle_cross_attention(c), tied=True)


def gpt_neo(c: Config) -> Tree:
    """GPT-Neo: layers with full attention and layers with a window, in turn."""
    count = n_layers(c, "num_layers", "num_hidden_layers")
    windows = {"global": None, "local": c.size("window_size", default=256)}
    blocks = {
        name: {
            "norm": "layer",
            "attention": mha(c.size("num_heads", "num_attention_heads"), bias=["o"], window=keys),
            "ffn": _wide(c, "intermediate_size", width=("hidden_size",)),
        }
        for name, keys in windows.items()
    }
    layers = _expanded(c, count)
    return _decoder(c, blocks, layers, tied=True, positions=learned(c), width=("hidden_size",))


def _expanded(c: Config, count: int) -> list[str]:
    """The kind of each layer: as listed, or [kinds, how often] pairs one after the other."""
    listed = c.words("attention_layers", length=count)
    pairs = c.raw("attention_types") or (None if listed else [[["global", "local"], 12]])
    if pairs is not None:
        run = _run(c, pairs, count)
        listed = run if listed in (None, run) else []
    if not listed or any(kind not in ("global", "local") for kind in listed):
        c.refuse("attention_types", "not the kinds of attention_layers, global or local")
    return listed


def _run(c: Config, pairs: Any, count: int) -> list[str]:
    try:
        entries = sum(len(kinds) * times for kinds, times in pairs)
        if entries != count:
            c.refuse("attention_types", f"{entries} entries for {count} layers")
        return list(chain.from_iterable(list(kinds) * times for kinds, times in pairs))
    except (TypeError, ValueError):
        c.refuse("attention_types", "a list of [kinds, how often] pairs is needed")


def gpt_neox(c: Config) -> Tree:
    """arXiv:2204.06745: rotary positions, two norms side by side, an untied head."""
    parallel = c.flag("use_parallel_residual", default=True)
    block = {
        "norm": "layer",
        "placement": "parallel_two_norms" if parallel else "pre",
        "attention": mha(
            c.size("num_attention_heads"), bias=c.flag("attention_bias", default=True)
        ),
        "ffn": plain(c, bias=True),
    }
    return _rotary(c, {"decoder": block}, n_layers(c), width=("hidden_size",))


def gpt_neox_japanese(c: Config) -> Tree:
    """GPT-NeoX without biases but one, of the last layer's attention."""
    count, width = n_layers(c), c.size("hidden_size")
    factor = c.number("intermediate_multiple_size", default=4)
    blocks = {
        name: {
            "norm": "layer",
            "attention": mha(c.size("num_attention_heads"), bias=bias),
            "ffn": {"kind": "plain", "d_ff": int(width * factor)},
        }
        for name, bias in (("decoder", []), ("last", ["o"]))
    }
    layers = ["decoder"] * (count - 1) + ["last"]
    return _rotary(c, blocks, layers, tied=True, width=("hidden_size",))


def gptj(c: Config) -> Tree:
    """GPT-J: rotary positions, one norm before both sub-layers, biases of the FFN and the head."""
    c.ignore("rotary", "n_ctx")
    block = {
        "norm": "layer",
        "placement": "parallel",
        "attention": mha(c.size(*_HEADS)),
        "ffn": _wide(c, "n_inner"),
    }
    return _rotary(c, {"decoder": block}, n_layers(c, *_LAYERS), head_bias=True, limit=_LIMIT)


def openai_gpt(c: Config) -> Tree:
    """Radford et al. 2018: learned positions, a norm after each sub-layer, FFNs of 4 d_model."""
    attend, ffn = mha(c.size(*_HEADS), bias=True), _wide(c)
    block = {"norm": "layer", "placement": "post", "attention": attend, "ffn": ffn}
    return _learned(c, block, 512, tied=True, final_norm="none")


def ctrl(c: Config) -> Tree:
    """arXiv:1909.05858: sinusoidal positions, and a head with a bias."""
    c.ignore("n_ctx")
    attend, ffn = mha(c.size(*_HEADS), bias=True), plain(c, width="dff", bias=True)
    return _decoder(
        c, {"decoder": {"norm": "layer", "attention": attend, "ffn": ffn}}, n_layers(c, *_LAYERS),
        tied=True, head_bias=True, positions={"kind": "sinusoidal"}, limit=_LIMIT,
    )  # fmt: skip


def _wide(c: Config, *key: str, width: tuple[str, ...] = _WIDTH) -> Tree:
    """An FFN with biases, 4 d_model wide where the file does not say."""
    return {"kind": "plain", "d_ff": c.maybe(*key) or 4 * c.size(*width), "bias": True}


def _learned(c: Config, block: Tree, rows: int = 1024, **more: Any) -> Tree:
    """A decoder with a table of positions, of as many ``rows`` where the file does not say."""
    c.ignore("n_ctx", "n_special", "predict_special_tokens")
    positions = {"kind": "learned", "n_positions": c.size(*_LIMIT, default=rows)}
    more |= {"positions": positions, "limit": _LIMIT}
    return _decoder(c, {"decoder": block}, n_layers(c, *_LAYERS), **more)


def _rotary(c: Config, blocks: dict[str, Tree], layers: list[str] | int, **more: Any) -> Tree:
    more = {"tied": False, "positions": {"kind": "rotary"}, **more}
    return _decoder(c, blocks, layers, **more)


def _decoder(c: Config, blocks: dict[str, Tree], layers: list[str] | int, **more: Any) -> Tree:
    c.only("causal", "body")
    more = {"final_norm": "layer", "width": _WIDTH, **more}
    return decoder(c, blocks, layers, **more)
