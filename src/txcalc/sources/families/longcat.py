"""LongCat-Flash: two attentions and dense FFNs a layer, and a mixture beside the first of them."""

from __future__ import annotations

from txcalc.sources.readers.common import given, glu
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import latent, unknown_modules
from txcalc.sources.readers.layers import decoder, n_layers


def longcat_flash(c: Config) -> Tree:
    """arXiv:2509.01322: each half of a layer is a block here.

    The mixture reads what the first half's FFN reads and joins the stream after the second half, so
    that FFN is a shared expert of its block.
    """
    count = n_layers(c, "num_layers") if c.has("num_layers") else _halves(c)
    attend = latent(c, q_default=1536)
    width = "ffn_hidden_size" if c.has("ffn_hidden_size") else "intermediate_size"
    plain = glu(c, width=width)
    zero = c.count("zero_expert_num", default=256)
    mixture = {
        "kind": "moe",
        "n_experts": c.size("n_routed_experts", "num_local_experts"),
        "top_k": c.size("moe_topk", "num_experts_per_tok", default=12),
        "d_expert": c.size("expert_ffn_hidden_size", "moe_intermediate_size"),
        "n_shared": 1,
        "d_shared": plain["d_ff"],
        "router_bias": "buffer",
        **given(n_zero=zero or None, zero_weights=zero > 0),
    }
    if c.flag("router_bias", default=False):
        c.unsupported("a bias of the router beside its correction")
    blocks = {
        "shortcut": {"norm": "rms", "attention": attend, "ffn": mixture},
        "plain": {"norm": "rms", "attention": attend, "ffn": plain},
    }
    tree = decoder(c, blocks, ["shortcut", "plain"] * count, tied=False, **unknown_modules(c))
    stored = "the published class stores unread weights for the experts that do nothing"
    return tree | {"notes": [*tree.get("notes", []), *([stored] if zero else [])]}


def _halves(c: Config) -> int:
    halves = n_layers(c)
    if halves % 2:
        c.refuse("num_hidden_layers", f"{halves} is odd, but each layer has two halves")
    return halves // 2
