"""IBM's Granite, and HyperCLOVA X, which scales its branches likewise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import LOCAL, every_layer, mixture
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, attentions, glu, window
from txcalc.sources.readers.refusals import refuse_uneven_heads
from txcalc.sources.readers.state_spaces import FULL, LINEAR, layer_key, mamba2_part


def granite(c: Config) -> Tree:
    """Llama's shapes; its multipliers are numbers, not tensors."""
    return modern(c, ffn=glu(c, bias="mlp_bias"))


def granite_swa(c: Config) -> Tree:
    """A window in three of four layers, the first of them without; a sink for each head."""
    return modern(
        c, kv_default=4, sinks=True, ffn=glu(c, bias="mlp_bias"), window=window(c, 128),
        slides=lambda i: i % 4 != 0, tied=True,
    )  # fmt: skip


def hyperclovax(c: Config) -> Tree:
    """Granite with a norm after each sub-layer too, unless the file says otherwise."""
    refuse_uneven_heads(c)
    post = c.flag("use_post_norm", default=True)
    return modern(c, placement="sandwich" if post else "pre", ffn=glu(c, bias="mlp_bias"))


def granitemoe(c: Config) -> Tree:
    """Granite 3.0: Llama's block, 2 of 8 experts unless the file says otherwise."""
    return every_layer(c, attention(c), _experts(c))


def granitemoeshared(c: Config) -> Tree:
    """Beside the experts one that every token uses."""
    return every_layer(c, attention(c), _experts(c, **_shared(c)))


def granitemoe_swa(c: Config) -> Tree:
    """Windows in three layers of four, and a sink for each head."""
    count, moe = n_layers(c), {"moe": _experts(c, **_shared(c))}
    mixers = attentions(c, window(c, 128), sinks=True)
    of = kinds(c, count, lambda i: "sliding" if i % 4 else "full")
    return decoder(c, *grid(mixers, of, moe, ["moe"] * count, norm="rms"), tied=False)


def _experts(c: Config, n_experts: Sequence[str] = ("num_local_experts",), **more: Any) -> Tree:
    return mixture(c, n_experts=n_experts, top_k_default=2, width=["intermediate_size"], **more)


def _shared(c: Config, default: int = 0) -> Tree:
    """One shared expert, where its width is not 0."""
    width = c.count("shared_intermediate_size", default=default)
    return {"shared": 1, "d_shared": width} if width else {}


def granitemoehybrid(c: Config) -> Tree:
    """Granite 4: a shared FFN in every layer, beside experts where there are any."""
    c.ignore("position_embedding_type", "normalization_function")
    c.ignore("intermediate_size", "num_experts_per_tok")
    layers = kinds(c, n_layers(c), lambda _: "mamba", key=layer_key(c), known=LINEAR | FULL)
    if c.null(LOCAL[0]) or c.count(*LOCAL, default=8):
        ffn = _experts(c, LOCAL, **_shared(c, 1024))
    else:
        ffn = {"kind": "glu", "d_ff": c.size("shared_intermediate_size", default=1024)}
    mixers: Tree = {"mamba": {"ssm": mamba2_part(c)}, "full": {"attention": attention(c)}}
    blocks = {name: {"norm": "rms", **mixer, "ffn": ffn} for name, mixer in mixers.items()}
    return decoder(c, blocks, layers, tied=False)
