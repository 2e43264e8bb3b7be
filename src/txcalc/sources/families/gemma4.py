"""Gemma 4: full layers with heads of their own, mixtures, and an embedding for each layer."""

from __future__ import annotations

from txcalc.sources.families.composite import text_model
from txcalc.sources.families.gemma import HEAD_DIM, per_layer_branch, per_layer_embeddings
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, kinds, n_layers
from txcalc.sources.readers.parts import attention
from txcalc.sources.readers.trees import given, tensor

_GLOBAL_HEAD_DIM = 512
_OVERRIDES = ("head_dim", "num_key_value_heads")


def gemma4(c: Config) -> Tree:
    """Published code of google/gemma-4: five layers with a window to a full one, the last full."""
    per_layer = _optional(c, "hidden_size_per_layer_input", 256)
    return _gemma4(c, per_layer, experts=c.flag("enable_moe_block", default=False))


def unified(c: Config) -> Tree:
    """The same without mixtures and layers' own embeddings."""
    return _gemma4(c, 0, experts=False)


def assistant(c: Config) -> Tree:
    """A drafting model: unless the file says otherwise, every layer reads the main cache."""
    if c.class_ == "Gemma4UnifiedAssistantForCausalLM":
        c.unsupported("the assistant's own class, with its clusters of tokens,")

    def build(text: Config) -> Tree:
        shared = text.count("num_kv_shared_layers", default=0)
        return _gemma4(text, 0, experts=False, shared=shared or n_layers(text))

    return text_model(c, build, "what joins it to the main model", tied=None)


def _gemma4(c: Config, per_layer: int, *, experts: bool, shared: int | None = None) -> Tree:
    count = n_layers(c)
    attends = kinds(c, count, lambda i: "full" if (i + 1) % 6 == 0 else "sliding")
    attends[-1] = "full"
    overrides = _overrides(c, attends)
    if shared is None:
        shared = c.count("num_kv_shared_layers", default=0)
    wide = c.flag("use_double_wide_mlp", default=False)
    size, ffn_width = c.size("sliding_window", default=512), c.size("intermediate_size")
    mixture = _mixture(c, ffn_width) if experts else {}
    beside = {"scalar": tensor("buffer", 1)} | (per_layer_branch(per_layer) if per_layer else {})
    blocks: dict[str, Tree] = {}
    layers = []
    for i, kind in enumerate(attends):
        shares = i >= count - shared
        block = {
            "norm": "rms",
            "placement": "sandwich",
            "attention": _attention(c, kind, size, overrides[i], shares=shares),
            "ffn": {"kind": "glu", "d_ff": ffn_width * (2 if wide and shares else 1)},
            "tensors": beside,
        }
        if mixture:
            block |= {"ffn": mixture["ffn"], "tensors": block["tensors"] | mixture["tensors"]}
        name = next((name for name, known in blocks.items() if known == block), "")
        if not name:
            name = f"{kind}_shared" if shares else kind
            name = name if name not in blocks else f"{name}_{i}"
            blocks[name] = block
        layers.append(name)
    tree = decoder(c, blocks, layers, tied=True)
    c.ignore("use_bidirectional_attention")
    rows = _optional(c, "vocab_size_per_layer_input", 262144)
    around = per_layer_embeddings(rows, count, per_layer) if per_layer else {}
    return tree | {"tensors": around}


def _attention(c: Config, kind: str, size: int, sizes: dict[str, int], *, shares: bool) -> Tree:
    full = kind == "full"
    part = attention(
        c,
        kv_default=4,
        head_dim=HEAD_DIM,
        qk_norm="head",
        window=None if full else size,
        k_is_v=full and not shares and c.flag("attention_k_eq_v", default=False),
        shares_kv=shares,
    )
    if "num_key_value_heads" in sizes:
        part |= {"kind": "gqa", "n_kv_heads": sizes["num_key_value_heads"]}
    return part | given(head_dim=sizes.get("head_dim"))


def _overrides(c: Config, attends: list[str]) -> list[dict[str, int]]:
    """Sizes of each layer's own, by default those of the full layers."""
    listed = c.inner("per_layer_config")
    head_dim = c.size("global_head_dim", default=_GLOBAL_HEAD_DIM)
    kv_heads = c.maybe("num_global_key_value_heads")
    gated = c.flag("attention_k_eq_v", default=False)
    if listed is None:
        of_full = {"head_dim": head_dim} | given(num_key_value_heads=kv_heads if gated else None)
        return [of_full if kind == "full" else {} for kind in attends]
    overrides: list[dict[str, int]] = [{} for _ in attends]
    for key in listed.names():
        if not key.isdecimal() or int(key) >= len(attends):
            c.refuse("per_layer_config", f"{key!r} is no layer of {len(attends)}")
        own = listed.needed(key)
        overrides[int(key)] = {name: own.size(name) for name in _OVERRIDES if own.has(name)}
        other = [name for name in own.names() if name not in _OVERRIDES]
        if other:
            c.unsupported(f"{other[0]} of one layer alone")
    return overrides


def _mixture(c: Config, d_shared: int) -> Tree:
    """Experts beside a dense network of the same layer, each side with norms of its own."""
    return {
        "ffn": {
            "kind": "moe",
            "n_experts": c.size("num_experts"),
            "top_k": c.size("top_k_experts"),
            "d_expert": c.size("moe_intermediate_size"),
            "n_shared": 1,
            "d_shared": d_shared,
        },
        "tensors": {
            "dense_norm": tensor("norm", "d_model"),
            "experts_norm_before": tensor("norm", "d_model"),
            "experts_norm_after": tensor("norm", "d_model"),
            "router_scale": tensor("elementwise", "d_model"),
            "expert_scales": tensor("elementwise", "n_experts"),
        },
    }


def _optional(c: Config, name: str, default: int) -> int:
    """A size that may be 0 or null for none."""
    return 0 if c.null(name) else c.count(name, default=default)
