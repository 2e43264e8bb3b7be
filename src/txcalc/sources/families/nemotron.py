"""NVIDIA's dense Nemotron, and Dory."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, glu, plain
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, layer_type, n_layers, uniform


def nemotron(c: Config) -> Tree:
    """arXiv:2402.16819: LayerNorm, squared ReLU between two matrices, biases by flag."""
    block = {
        "norm": "layer",
        "attention": attention(c, bias=c.flag("attention_bias", default=False)),
        "ffn": plain(c, bias=c.flag("mlp_bias", default=False)),
    }
    return uniform(c, block, final_norm="layer")


def dory(c: Config) -> Tree:
    """Norms without weights, learned scales in their place (arXiv:2410.01131), looped layers.

    Saved files list attention and FFN as layers of their own, and count twice as many.
    """
    c.ignore("ngpt_alpha_init")
    count, listed = n_layers(c), c.words("layer_types")
    halved = 2 if listed and "mlp" in listed else 1
    kinds = [layer_type(c, kind) for kind in (listed or [])[::halved]]
    count //= halved
    kinds = kinds or by_layer(count, lambda i: "sliding" if (i + 1) % 4 else "full")
    if len(kinds) != count:
        c.refuse("layer_types", f"{len(kinds)} layers are listed, but there are {count}")
    before = c.count("n_input_layers", default=8 * halved) // halved
    after = c.count("n_output_layers", default=8 * halved) // halved
    looped = (
        c.count("n_recurrent_layers", default=halved * max(0, count - before - after)) // halved
    )
    if before + looped + after != count:
        c.refuse(
            "n_recurrent_layers",
            f"{before} layers before, {looped} in and {after} after the loop are not {count}",
        )
    loops = c.size("n_recurrent_loops", default=2)
    state = c.word("recurrent_kv_cache_mode", default="per_loop", known=("per_loop", "last_loop"))
    extra: Tree = {"loops": loops} if loops > 1 else {}
    if extra and state == "last_loop":
        extra["loop_state"] = "last"
    inner = range(before, before + looped) if extra else range(0)
    layers = [f"looped_{kind}" if i in inner else kind for i, kind in enumerate(kinds)]
    window = c.size("sliding_window", default=1024)
    blocks = {}
    for kind, size in (("full", None), ("sliding", window)):
        blocks[kind] = _dory(c, size)
        blocks[f"looped_{kind}"] = blocks[kind] | extra
    tree = decoder(c, blocks, layers, tied=False, final_norm="none")
    if "head" in tree:
        tree["tensors"] = {"logit_scale": {"use": "elementwise", "dims": ["vocab"]}}
    return tree


def _dory(c: Config, window: int | None) -> Tree:
    bias = ["q", "k", "v", "o"] if c.flag("attention_bias", default=False) else False
    scales: dict[str, list[str]] = {
        "qk_scale": ["n_heads", "head_dim"], "gate_scale": ["n_heads", "head_dim"],
        "ffn_gate_scale": ["d_ff"], "ffn_up_scale": ["d_ff"],
        "attention_step": ["d_model"], "ffn_step": ["d_model"],
    }  # fmt: skip
    part = attention(c, kv_default=4, head_dim=256, bias=bias, window=window, gated=True)
    return {
        "norm": "none",
        "attention": part,
        "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
        "tensors": {n: {"use": "elementwise", "dims": dims} for n, dims in scales.items()},
    }
