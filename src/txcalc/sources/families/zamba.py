"""Zamba: one attention block, or a few, that run again and again between Mamba layers."""

from __future__ import annotations

from itertools import cycle

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, n_layers
from txcalc.sources.readers.parts import attention, glu
from txcalc.sources.readers.state_spaces import layer_key, mamba_part, ssm_heads
from txcalc.sources.readers.trees import given, noted, tensor

_OLDER = ("lora_rank", "ffn_hidden_size", "state_size", "expansion_factor", "conv_dimension",
          "use_shared_block_lora", "use_shared_attention_lora")  # fmt: skip
_KINDS = {"linear_attention": "mamba", "mamba": "mamba", "hybrid": "hybrid"}


def zamba(c: Config) -> Tree:
    """arXiv:2405.16712: Mamba, and one shared block."""
    period, offset = c.stated("attn_layer_period", 6), c.count("attn_layer_offset", default=4)
    count = n_layers(c)
    if count < 3:
        c.refuse("num_hidden_layers", f"{count} is below the three that this type begins with")
    c.ignore("n_mamba_heads")
    layers = _kinds(c, count) or by_layer(
        count, lambda i: "hybrid" if i == 2 or (i > 2 and (i - 3) % period == offset) else "mamba"
    )
    return _model(c, layers, mamba_part(c), _attention(c, 16), glu(c))


def zamba2(c: Config) -> Tree:
    """arXiv:2411.15242: Mamba-2, several shared blocks in turn, and adapters for each use."""
    c.ignore("use_conv_bias", "chunk_size", "mamba_headdim", "kv_channels", "num_query_groups")
    c.ignore("use_mem_rope", "use_long_context")
    older = next((key for key in _OLDER if c.has(key)), None)
    if older is not None:
        c.unsupported(f"the older form of this type's files, with keys such as {older},")
    bias = c.flag("add_bias_linear", default=False)
    ssm = {
        "kind": "mamba2",
        **ssm_heads(c, c.stated("mamba_expand", 2) * c.size("hidden_size"), "n_mamba_heads", 8),
        "d_state": c.stated("mamba_d_state", 64),
        "n_groups": c.stated("mamba_ngroups", 1),
        "d_conv": c.stated("mamba_d_conv", 4),
        "conv_bias": True,
    } | given(bias=bias)
    width = c.maybe("intermediate_size") or 4 * c.size("hidden_size")
    ffn = {"kind": "glu", "d_ff": width} | given(bias=bias)
    attend = _attention(c, None)
    layers = _kinds(c, n_layers(c))
    if layers is None or not c.has("layers_block_type"):
        c.refuse("layers_block_type", "missing, but it is needed: the kind of each layer")
    hybrids = c.sizes("hybrid_layer_ids")
    if hybrids not in (None, [i for i, kind in enumerate(layers) if kind == "hybrid"]):
        c.refuse("hybrid_layer_ids", "it contradicts layers_block_type")
    return _model(
        c, layers, ssm, attend, ffn, sets=c.stated("num_mem_blocks", 1),
        adapters=_adapters(c, attend, width),
    )  # fmt: skip


def _attention(c: Config, kv_heads: int | None) -> Tree:
    """Attention over the stream and the embedding, twice as wide as either."""
    both = 2 * c.size("hidden_size")
    head_dim = c.size(
        "attention_head_dim", "head_dim", default=both // c.size("num_attention_heads")
    )
    d_in = c.maybe("attention_hidden_size") or both
    return attention(c, head_dim=head_dim, kv_default=kv_heads, bias=False, d_in=d_in)


def _adapters(c: Config, attend: Tree, d_ff: int) -> Tree:
    """Low-rank additions to the FFN and, by flag, to q, k and v, of each use of a shared block."""
    rank, d_in = c.stated("adapter_rank", 128), attend["d_in"]
    widths = {"ffn": (c.size("hidden_size"), 2 * d_ff)}
    if c.flag("use_shared_attention_adapter", default=False):
        widths |= dict.fromkeys("qkv", (d_in, d_in))
    return {
        f"{name}_adapter_{way}": tensor("matmul", *dims)
        for name, (narrow, wide) in widths.items()
        for way, dims in (("down", [rank, narrow]), ("up", [wide, rank]))
    }


def _kinds(c: Config, count: int) -> list[str] | None:
    key = layer_key(c)
    listed = c.words(key, length=count)
    if listed is None:
        return None
    return [_KINDS.get(kind) or c.refuse(key, f"{kind!r} is not modelled") for kind in listed]


def _model(
    c: Config,
    layers: list[str],
    ssm: Tree,
    attend: Tree,
    ffn: Tree,
    *,
    sets: int = 1,
    adapters: Tree | None = None,
) -> Tree:
    """A hybrid layer runs a shared block, projects its output, and is a Mamba layer.

    Each run of a shared block is a layer of its own here.
    """
    mamba: Tree = {"norm": "rms", "ssm": ssm}
    project = {"project": tensor("matmul", "d_model", "d_model")}
    shared: Tree = {
        "norm": "none",
        "attention": attend,
        "ffn": ffn,
        "tensors": {
            "attention_norm": tensor("norm", "d_in"),
            "ffn_norm": tensor("norm", "d_model"),
        },
        "shared": True,
    }
    names = ["shared"] if sets == 1 else [f"shared_{i + 1}" for i in range(sets)]
    blocks = dict.fromkeys(names[: layers.count("hybrid")], shared)
    blocks |= {"mamba": mamba, "hybrid": mamba | {"tensors": project | (adapters or {})}}
    turns = cycle(names)
    run = [name for kind in layers for name in ([next(turns)] if kind == "hybrid" else []) + [kind]]
    tree = decoder(c, blocks, run, tied=True)
    uses = layers.count("hybrid")
    if uses > sets and not c.flag("tie_word_embeddings", default=True):
        c.unsupported("an untied head beside shared blocks, which the class does not share then,")
    note = (
        f"{len(layers)} Mamba layers; before {uses} of them a shared block runs, a layer of its own"
    )
    return noted(tree, note if uses else None)
