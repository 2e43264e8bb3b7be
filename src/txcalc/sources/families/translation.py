"""Translation models: M2M-100 and NLLB, Marian, FSMT, and the text part of SeamlessM4T."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer
from txcalc.sources.readers.parts import learned
from txcalc.sources.readers.seq2seq import (
    SINUSOIDAL,
    Made,
    Side,
    by_bart,
    side_layer,
    side_layers,
    stack,
    two_stacks,
)
from txcalc.sources.readers.trees import given


def m2m(c: Config) -> Tree:
    """arXiv:2010.11125: norms before each sub-layer, positions that are computed."""
    c.only("conditional", "body")
    return two_stacks(c, final_norm="layer", logits_bias=False)


def nllb_moe(c: Config) -> Tree:
    """arXiv:2207.04672: of every few layers the last has experts, two for a token."""
    c.only("conditional", "body")
    c.ignore("expert_capacity", "router_dtype", "second_expert_policy")
    c.ignore("router_ignore_padding_tokens", "normalize_router_prob_before_dropping")
    c.ignore("batch_prioritized_routing", "moe_eval_capacity_token_fraction")
    router_bias = c.flag("router_bias", default=False)

    def made(side: Side) -> Made:
        dense = side_layer(c, side)
        ffn = {"kind": "moe", "n_experts": c.size("num_experts"), "top_k": 2, "expert": "plain"}
        ffn |= {"d_expert": dense["ffn"]["d_ff"], "bias": True, **given(router_bias=router_bias)}
        blocks = {"dense": dense, "moe": dense | {"ffn": ffn}}
        step = c.count(f"{side}_sparse_step", default=4)
        count = side_layers(c, side)
        of = by_layer(count, lambda i: "moe" if step and (i + 1) % step == 0 else "dense")
        layers = [f"{side}_{kind}" for kind in of]
        kept = {f"{side}_{kind}": block for kind, block in blocks.items() if kind in of}
        return kept, stack(layers, positions=SINUSOIDAL, final_norm="layer")

    return by_bart(c, made, logits_bias=False)


def marian(c: Config) -> Tree:
    """arXiv:1804.00344: norms behind, a table of positions; there may be two vocabularies."""
    shared = c.flag("share_encoder_decoder_embeddings", default=True)
    vocab = c.size("vocab_size")
    target = c.size("decoder_vocab_size", default=vocab)
    tied = c.flag("tie_word_embeddings", default=True)
    tree = two_stacks(c, placement="post", positions=learned(c), tied=tied)
    if c.task == "causal":
        if tied:
            return tree | {"vocab": target}
        return tree | {"layers": tree["layers"] | {"vocab": target}}
    if shared and tied:
        return tree
    tree["encoder"] = tree["encoder"] | {"vocab": vocab}
    tree["layers"] = tree["layers"] | {"vocab": target}
    if not shared:
        tree["vocab"] = target
        tree["tensors"] = {k: v for k, v in tree.get("tensors", {}).items() if k != "shared"}
    return tree


def fsmt(c: Config) -> Tree:
    """arXiv:1907.06616: two vocabularies, one if tied; tables of positions behind the padding."""
    c.only("conditional", "body")
    source, target = c.size("src_vocab_size"), c.size("tgt_vocab_size", "vocab_size")
    tied = c.flag("tie_word_embeddings", default=False)
    if tied and source != target:
        c.refuse("tie_word_embeddings", f"{source} and {target} tokens cannot share a table")
    c.ignore("langs")
    padding = c.count("pad_token_id", default=1)
    positions = learned(c, padding + 1)
    tree = two_stacks(
        c, placement="post", positions=positions, logits_bias=False, vocab=target, tied=tied,
        one_table=True,
    )  # fmt: skip
    if not tied:
        tree["encoder"] = tree["encoder"] | {"vocab": source}
        tree["layers"] = tree["layers"] | {"vocab": target}
    if c.task == "body":
        tree["head"] = {"tied": tied}
    return tree


def seamless(c: Config) -> Tree:
    """arXiv:2308.11596, the text translation: NLLB's layers under the keys of this type."""
    c.ignore_all(*_SPEECH)
    c.only("conditional", "body")
    tree = two_stacks(c, final_norm="layer", logits_bias=False, alias="decoder")
    if c.task != "body":
        return tree
    left_out = "left out: the speech encoder, the text-to-unit model and the vocoder"
    head = {"tied": c.flag("tie_word_embeddings", default=True)}
    return tree | {"head": head, "scope": "text", "notes": [left_out]}


_SPEECH = (
    "speech_", "t2u_", "vocoder_", "upsample_", "resblock_", "unit_", "lang_", "spkr_", "adaptor_",
    "variance_", "var_pred", "conv_", "num_conv_", "num_adapter", "add_adapter", "feature_proj",
    "left_max_", "right_max_", "leaky_", "sampling_rate", "char_vocab", "max_source_positions",
    "position_embeddings_type", "max_new_tokens", "rotary_embedding_base",
)  # fmt: skip
"""How keys begin that belong to the parts which work on speech."""
