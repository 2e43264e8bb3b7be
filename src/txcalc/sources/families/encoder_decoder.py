"""Any encoder and any decoder, joined by the decoder's cross-attention."""

from __future__ import annotations

from math import prod
from typing import Any

from txcalc.errors import nearest
from txcalc.sources.families import TYPES, family
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import given, tensor

_POOLER = "the encoder's pooler has weights, but nothing reads what it makes: it never runs"
_KNOWN = {"d_model", "vocab", "context", "blocks", "encoder", "layers", "head", "tensors", "notes"}


def encoder_decoder(c: Config) -> Tree:
    """arXiv:1907.12461; where the widths differ, a projection stands between the two."""
    c.only("conditional", "body")
    if c.flag("tie_encoder_decoder", default=False):
        c.unsupported("one set of weights for encoder and decoder (tie_encoder_decoder)")
    encoder, decoder = c.needed("encoder"), c.needed("decoder")
    if encoder.flag("is_decoder", default=False):
        encoder.refuse("is_decoder", "an encoder that decodes reads in one direction only")
    if decoder.has("cross_attention_hidden_size"):
        decoder.unsupported("cross-attention of another width (cross_attention_hidden_size)")
    c.ignore("tie_word_embeddings")
    first, second = _half(encoder, "body", "encoder"), _half(decoder, "causal", "layers")
    second["blocks"] = {name: _joined(decoder, b) for name, b in second["blocks"].items()}
    wide, d_model = first["d_model"], second["d_model"]
    first["stack"]["vocab"], second["stack"]["vocab"] = first["vocab"], second["vocab"]
    tensors = first["tensors"] | second["tensors"]
    if wide != d_model:
        first["stack"]["d_model"] = wide
        between = tensor("matmul", d_model, wide, stream="source")
        tensors |= {"between": between, "between_bias": tensor("bias", d_model)}
    return {
        "d_model": d_model,
        "vocab": second["vocab"],
        **given(context=second.get("context")),
        "blocks": first["blocks"] | second["blocks"],
        "encoder": first["stack"],
        "layers": second["stack"],
        "head": second["head"],
        "tensors": tensors,
        **({"notes": [_POOLER]} if "encoder_pooler" in tensors else {}),
    }


def _half(c: Config, task: Any, field: str) -> Tree:
    """One side's description, its blocks and tensors named after it and of stated sizes."""
    if c.type not in TYPES:
        c.unsupported(f"a half of type {c.type!r}{nearest(c.type, list(TYPES))}")
    c.task = task
    c.forget("architectures")
    c.ignore("model_type", *(["tie_word_embeddings"] if task == "body" else []))
    tree = family(c.type)(c)
    side = "encoder" if field == "encoder" else "decoder"
    if field not in tree or not set(tree) <= _KNOWN or ("encoder" in tree) == ("layers" in tree):
        c.unsupported(f"type {c.type!r} as the {side} of a pair")
    stack = dict(tree[field])
    alone = len(tree["blocks"]) == 1
    names = {name: side if alone else f"{side}_{name}" for name in tree["blocks"]}
    for key in ("first", "pattern", "last"):
        if key in stack:
            stack[key] = [names[name] for name in stack[key]]
    sizes = {"d_model": tree["d_model"], "vocab": tree["vocab"]}
    blocks = {
        names[name]: block | given(tensors=_in_numbers(block.get("tensors", {}), sizes) or None)
        for name, block in tree["blocks"].items()
    }
    tensors = _in_numbers(tree.get("tensors", {}), sizes)
    for name, row in tensors.items():
        if row.get("stream") == "sequence" and side == "encoder":
            tensors[name] = row | {"stream": "none"}
    named = {f"{side}_{name}": row for name, row in tensors.items()}
    return tree | {"blocks": blocks, "stack": stack, "tensors": named}


def _in_numbers(tensors: Tree, sizes: dict[str, int]) -> Tree:
    """Tensors whose letters of the whole model have become numbers."""
    return {
        name: row | {"dims": [_in_number(size, sizes) for size in row["dims"]]}
        for name, row in tensors.items()
    }


def _in_number(size: int | str, sizes: dict[str, int]) -> int | str:
    """A size, or a product of sizes, some of which are letters of the whole model."""
    if isinstance(size, int):
        return size
    factors = [sizes.get(word, word) for word in size.split("*")]
    numbers = prod(int(f) for f in factors if str(f).isdigit())
    letters = [str(f) for f in factors if not str(f).isdigit()]
    return "*".join([*([] if numbers == 1 else [str(numbers)]), *letters]) if letters else numbers


def _joined(c: Config, block: Tree) -> Tree:
    """A decoder's block whose cross-attention runs, now that there is an encoder."""
    tensors = block.get("tensors", {})
    idle = {name for name in tensors if name.startswith("cross_")}
    if not idle:
        if c.flag("add_cross_attention", default=False):
            c.unsupported(f"cross-attention in type {c.type!r}")
        return block
    attention = block["attention"]
    if attention["kind"] != "mha" or block.get("placement") not in ("pre", "post", None):
        c.unsupported(f"cross-attention in type {c.type!r}")
    cross = {key: attention[key] for key in ("kind", "n_heads", "head_dim") if key in attention}
    biases = [name for name in "qkvo" if f"cross_{name}_bias" in idle]
    cross |= {"bias": biases, "d_in": tensors["cross_q"]["dims"][1]}
    rest = {name: row for name, row in tensors.items() if name not in idle}
    block = {name: field for name, field in block.items() if name != "tensors"}
    return block | {"cross_attention": cross} | given(tensors=rest or None)
