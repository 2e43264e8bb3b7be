"""AI2's OLMo: dense, with experts, and with delta rules."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, kinds, n_layers
from txcalc.sources.readers.mixtures import LOCAL, every_layer, mixture
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, glu, window
from txcalc.sources.readers.state_spaces import DELTA


def olmo(c: Config) -> Tree:
    """arXiv:2402.00838: LayerNorm without weight or bias."""
    return modern(c, norm="none")


def olmo2(c: Config) -> Tree:
    """arXiv:2501.00656: each sub-layer's output is normed, and q and k over their whole width."""
    return modern(c, placement="output", qk_norm="width")


def olmo3(c: Config) -> Tree:
    """arXiv:2512.13961: the same with a window in all layers but every fourth."""
    return modern(
        c, placement="output", qk_norm="width", window=window(c, 4096),
        slides=lambda i: (i + 1) % 4 != 0,
    )  # fmt: skip


def olmoe(c: Config) -> Tree:
    """arXiv:2409.02060: queries and keys normalised over all channels."""
    attend = attention(c, qk_norm="width")
    if attend["n_heads"] * attend.get("head_dim", 0) not in (0, c.size("hidden_size")):
        c.unsupported("a norm of queries whose heads do not make up hidden_size")
    return every_layer(
        c, attend, mixture(c, n_experts=LOCAL, top_k_default=8, width=["intermediate_size"])
    )


def flex_olmo(c: Config) -> Tree:
    """arXiv:2507.07024: OLMo 2's norms after the sub-layers, and experts."""
    moe = mixture(c, n_experts=LOCAL, top_k_default=5, width=["intermediate_size"])
    return every_layer(c, attention(c, qk_norm="width"), moe, placement="output")


def olmo_hybrid(c: Config) -> Tree:
    """OLMo Hybrid: the delta rule behind norms, attention before them as in OLMo 2."""
    count, heads = n_layers(c), c.size("num_attention_heads")
    every = {i for i in range(count) if i % 4 == 3} or {count - 1}
    layers = kinds(c, count, lambda i: "full" if i in every else "linear", known=DELTA)
    if set(layers) != {"full", "linear"}:
        c.refuse("layer_types", "this type has layers of both kinds")
    n_k_heads = c.size("linear_num_key_heads", default=heads)
    k_dim = c.size("linear_key_head_dim", default=int(0.75 * c.size("hidden_size") / n_k_heads))
    delta = {
        "kind": "gated_delta",
        "n_k_heads": n_k_heads,
        "n_v_heads": c.size("linear_num_value_heads", default=heads),
        "k_dim": k_dim,
        "v_dim": c.size("linear_value_head_dim", default=2 * k_dim),
        "d_conv": c.stated("linear_conv_kernel_dim", 4),
    }
    ffn, attend = glu(c), attention(c, qk_norm="width")
    blocks = {
        "linear": {"norm": "rms", "ssm": delta, "ffn": ffn},
        "full": {"norm": "rms", "placement": "output", "attention": attend, "ffn": ffn},
    }
    return decoder(c, blocks, layers, tied=False)
