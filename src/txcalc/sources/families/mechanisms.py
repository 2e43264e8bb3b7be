"""What of a type's partial blocks no part describes: refusals name it."""

from __future__ import annotations

from txcalc.sources.readers.config import Tree

_OPEN = "a mixture whose top_k the file leaves open"

MECHANISMS = {
    "big_bird": "block-sparse attention",
    "bigbird_pegasus": "block-sparse attention",
    "blt": "patches whose number depends on the text",
    "convbert": "convolutions whose kernel depends on the token",
    "cpmant": "prompts and segments of unlike length",
    "deberta": "disentangled attention",
    "deberta-v2": "disentangled attention",
    "fnet": "Fourier transforms in place of attention",
    "funnel": "sequences that shrink from block to block",
    "inkling2_loop_text": "relative profiles and convolved heads",
    "inkling2_text": "relative profiles and convolved heads",
    "led": "attention from and to global tokens",
    "longformer": "attention from and to global tokens",
    "longt5": "attention to a summary of each block of tokens",
    "luke": "queries that depend on words and entities",
    "mobilebert": "bottlenecks around each block",
    "mra": "multi-resolution attention",
    "musicgen": "cross-attention to a text encoder that is left out",
    "neomme": "gates between experts of several towers",
    "nystromformer": "landmarks in place of keys",
    "pegasus_x": "blocks and global tokens",
    "perceiver": "latents of another length than the text",
    "prophetnet": "several streams of predicted n-grams",
    "qwen4_exp_text": "low-rank hyper-connections and an indexer over groups",
    "reformer": "hashed buckets and chunks",
    "squeezebert": "grouped convolutions as projections",
    "xlnet": "two streams with relative projections",
    "yoso": "sampled attention",
}
"""Type -> the mechanism."""


def with_mechanisms(tree: Tree, type_: str) -> Tree:
    """The description with the mechanism of each partial block, where it is known."""
    return (
        tree
        if "blocks" not in tree
        else tree | {"blocks": {name: _named(b, type_) for name, b in tree["blocks"].items()}}
    )


def _named(block: Tree, type_: str) -> Tree:
    if not block.get("partial"):
        return block
    ffn = block.get("ffn") or {}
    is_open = ffn.get("kind") == "moe" and "top_k" not in ffn
    mechanism = _OPEN if is_open else MECHANISMS.get(type_)
    return block | {"mechanism": mechanism} if mechanism else block
