"""Decoders whose layers run several times: HRM-Text and Dory."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, layer_type, n_layers
from txcalc.sources.readers.parts import attention, biased, glu, mha
from txcalc.sources.readers.refusals import refuse_uneven_heads
from txcalc.sources.readers.trees import given, tensor


def hrm_text(c: Config) -> Tree:
    """arXiv:2506.21734: two stacks, a low one that runs L times for each run of the high one."""
    refuse_uneven_heads(c)
    c.ignore("prefix_lm")
    high, low = c.size("H_cycles", default=2), c.size("L_cycles", default=3)
    count = c.maybe("num_layers_per_stack") or n_layers(c)
    c.ignore("num_hidden_layers")
    bias, width = c.flag("attention_bias", default=False), c.maybe("head_dim") or 128
    part = mha(c.size("num_attention_heads"), head_dim=width, gated=True, bias=bias)
    block = {"norm": "none", "attention": part, "ffn": glu(c, bias="mlp_bias")}
    blocks = {
        name: block | given(loops=loops if loops > 1 else None)
        for name, loops in (("low", high * low), ("high", high))
    }
    layers = ["low"] * count + ["high" if low > 1 else "low"] * count
    start = {"low_start": tensor("elementwise", "d_model")}
    return decoder(c, blocks, layers, tied=False, final_norm="none", tensors=start)


def dory(c: Config) -> Tree:
    """Norms without weights, learned scales in their place (arXiv:2410.01131), looped layers.

    Saved files list attention and FFN as layers of their own, and count twice as many.
    """
    count, listed = n_layers(c), c.words("layer_types")
    halved = 2 if listed and "mlp" in listed else 1
    count //= halved
    attends = [layer_type(c, kind) for kind in (listed or [])[::halved]]
    attends = attends or by_layer(count, lambda i: "sliding" if (i + 1) % 4 else "full")
    if len(attends) != count:
        c.refuse("layer_types", f"{len(attends)} layers are listed, but there are {count}")
    before = c.count("n_input_layers", default=8 * halved) // halved
    after = c.count("n_output_layers", default=8 * halved) // halved
    rest = halved * max(0, count - before - after)
    looped = c.count("n_recurrent_layers", default=rest) // halved
    if before + looped + after != count:
        parts = f"{before} layers before, {looped} in and {after} after the loop"
        c.refuse("n_recurrent_layers", f"{parts} are not {count}")
    loops = c.size("n_recurrent_loops", default=2)
    state = c.word("recurrent_kv_cache_mode", default="per_loop", known=("per_loop", "last_loop"))
    extra: Tree = {"loops": loops} if loops > 1 else {}
    if extra and state == "last_loop":
        extra["loop_state"] = "last"
    inner = range(before, before + looped) if extra else range(0)
    layers = [f"looped_{kind}" if i in inner else kind for i, kind in enumerate(attends)]
    blocks = {}
    for kind, keys in {"full": None, "sliding": c.size("sliding_window", default=1024)}.items():
        blocks[kind] = _dory(c, keys)
        blocks[f"looped_{kind}"] = blocks[kind] | extra
    tree = decoder(c, blocks, layers, tied=False, final_norm="none")
    if "head" in tree:
        tree["tensors"] = {"logit_scale": tensor("elementwise", "vocab")}
    return tree


def _dory(c: Config, keys: int | None) -> Tree:
    scales: dict[str, list[str]] = {
        "qk_scale": ["n_heads", "head_dim"], "gate_scale": ["n_heads", "head_dim"],
        "ffn_gate_scale": ["d_ff"], "ffn_up_scale": ["d_ff"],
        "attention_step": ["d_model"], "ffn_step": ["d_model"],
    }  # fmt: skip
    bias = biased(c, "qkvo", default=False)
    part = attention(c, kv_default=4, head_dim=256, bias=bias, window=keys, gated=True)
    return {
        "norm": "none",
        "attention": part,
        "ffn": glu(c, bias="mlp_bias"),
        "tensors": {n: tensor("elementwise", *dims) for n, dims in scales.items()},
    }
