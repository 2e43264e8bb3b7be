"""GIT: a decoder of BERT's layers that reads the image as a prefix."""

from __future__ import annotations

from txcalc.sources.readers.common import plain
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers


def git(c: Config) -> Tree:
    """arXiv:2205.14100: norms behind each sub-layer, biases everywhere, a head of its own."""
    c.only("causal", "body")
    if c.has("num_image_with_embedding"):
        c.unsupported("an embedding for each image of several (num_image_with_embedding)")
    c.ignore("num_image_with_embedding", "vision_config")
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": {"kind": "mha", "n_heads": c.size("num_attention_heads"), "bias": True},
        "ffn": plain(c, bias=True),
    }
    tree = decoder(
        c,
        {"decoder": block},
        n_layers(c),
        tied=False,
        positions={"kind": "learned", "n_positions": c.size("max_position_embeddings")},
        head_bias=True,
        final_norm="none",
        scope="text",
        notes=["left out: the image encoder, and what joins it"],
    )
    tree["layers"]["embedding_norm"] = "layer"
    return tree
