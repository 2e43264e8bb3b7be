"""ModernBERT trained as a decoder."""

from __future__ import annotations

from typing import Any

from txcalc.sources.config import Config
from txcalc.sources.families.common import (
    Tree,
    decoder,
    derived_heads,
    even,
    given,
    glu,
    kinds,
    n_layers,
    window,
)


def modernbert_decoder(c: Config) -> Tree:
    """arXiv:2507.11412: a window but in every third layer; the first has no norm before attention.

    The head begins with a dense layer and a norm, as a masked-language-model head does.
    """
    even(c)
    derived_heads(c)
    c.ignore("classifier_activation")
    norm = "layer" if c.flag("norm_bias", default=False) else "layer_no_bias"
    period = c.size("global_attn_every_n_layers", default=3)
    of_layers = kinds(c, n_layers(c), lambda i: "sliding" if i % period else "full")
    windows = {"full": None, "sliding": _window(c)}
    if windows["sliding"] is None:
        of_layers = ["full"] * len(of_layers)
    blocks = {name: _block(c, size) | {"norm": norm} for name, size in windows.items()}
    blocks["first"] = blocks[of_layers[0]] | {"norm": "none", "tensors": _one_norm(norm)}
    tree = decoder(
        c, blocks, ["first", *of_layers[1:]], tied=True, final_norm=norm,
        head_bias=c.flag("decoder_bias", default=True),
    )  # fmt: skip
    tree["layers"]["embedding_norm"] = norm
    dense_bias = c.flag("classifier_bias", default=False)
    if "head" in tree:
        tree["head"] |= {"transform": norm, "transform_bias": dense_bias}
    return tree


def _block(c: Config, size: int | None) -> dict[str, Any]:
    bias = c.flag("attention_bias", default=False)
    part = {"kind": "mha", "n_heads": c.size("num_attention_heads")}
    return {
        "attention": part | given(bias=bias, window=size),
        "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
    }


def _one_norm(norm: str) -> Tree:
    """The norm before the FFN, tensor by tensor."""
    names = ["before_ffn"] + (["before_ffn_bias"] if norm == "layer" else [])
    return {name: {"use": "norm", "dims": ["d_model"]} for name in names}


def _window(c: Config) -> int | None:
    """The keys that a query may meet: half of local_attention, unless stated itself."""
    if c.null("local_attention"):
        c.unsupported("a null local_attention")
    return window(c, c.size("local_attention", default=128) // 2)
