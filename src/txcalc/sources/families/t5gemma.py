"""T5Gemma: encoder and decoder of Gemma's layers, each side with a config of its own."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import kinds, n_layers
from txcalc.sources.readers.seq2seq import Made, Side, described, sides, stack
from txcalc.sources.readers.trees import given, tensor

LEFT_OUT = "left out: the vision tower, and what joins it"


def t5gemma(c: Config) -> Tree:
    """arXiv:2504.06225: Gemma 2's layers and cross-attention; the encoder may be another size."""
    c.only("conditional", "body")
    c.ignore("vocab_size")
    parts = {"encoder": c.needed("encoder"), "decoder": c.needed("decoder")}
    main = parts[sides(c)[-1]]
    widths = {side: part.size("hidden_size") for side, part in parts.items()}

    def made(side: Side) -> Made:
        part = parts[side]
        window = part.size("sliding_window", default=4096)
        keys = 2 * window + 1 if side == "encoder" else window
        apart = side == "encoder" and part is not main and widths["encoder"] != widths["decoder"]
        own = widths["encoder"] if apart else None
        vocab = part.size("vocab_size")
        return _stack(part, side, keys, period=2, cross=True, vocab=vocab, d_model=own)

    return described(
        c,
        made,
        d_model=main.size("hidden_size"),
        vocab=main.size("vocab_size"),
        tied=c.flag("tie_word_embeddings", default=True),
        context=main.maybe("max_position_embeddings"),
        one_table=True,
    )


def t5gemma2(c: Config) -> Tree:
    """arXiv:2512.14856: Gemma 3's layers; the decoder's attention reads the encoder's tokens too.

    The token that ends an image has a vector of its own in each token table.
    """
    c.only("conditional", "body")
    encoder = c.needed("encoder")
    encoder.ignore("vision_config", "tie_word_embeddings", "mm_tokens_per_image", "architectures")
    encoder.ignore("model_type")
    encoder.ignore_all("boi_token", "eoi_token", "image_token")
    c.ignore_all("eoi_token", "image_token", "vocab_size")
    parts = {"encoder": encoder.needed("text_config"), "decoder": c.needed("decoder")}
    vocab, d_model = parts["decoder"].size("vocab_size"), parts["decoder"].size("hidden_size")
    for key, size in (("vocab_size", vocab), ("hidden_size", d_model)):
        if parts["encoder"].size(key) != size:
            parts["encoder"].refuse(key, f"the decoder has {size}, and both have to agree")
    tied = c.flag("tie_word_embeddings", default=True)
    own = None if tied else vocab

    def made(side: Side) -> Made:
        part = parts[side]
        period = part.size("sliding_window_pattern", default=6)
        keys = part.size("sliding_window", default=4096)
        return _stack(part, side, keys, period=period, qk_norm="head", vocab=own)

    vectors = tensor("elementwise", "d_model", copies=1 if tied else 2)
    tree = described(
        c,
        made,
        d_model=d_model,
        vocab=vocab,
        tied=tied,
        context=parts["decoder"].maybe("max_position_embeddings"),
        one_table=True,
        tensors={"end_of_image": vectors},
    )
    return tree | {"scope": "text", "notes": [LEFT_OUT]}


def _stack(
    c: Config,
    side: Side,
    window: int,
    *,
    period: int,
    cross: bool = False,
    qk_norm: str = "none",
    vocab: int | None = None,
    d_model: int | None = None,
) -> Made:
    """Windows in all layers but one of each period, unless the file lists them."""
    c.ignore("model_type", "architectures", "tie_word_embeddings", "max_position_embeddings")
    count = n_layers(c)
    attends = kinds(c, count, lambda i: "sliding" if (i + 1) % period else "full")
    part = {
        "kind": "gqa",
        "n_heads": c.size("num_attention_heads"),
        "n_kv_heads": c.size("num_key_value_heads", default=4),
        "head_dim": c.size("head_dim", default=256),
        **given(bias=c.flag("attention_bias", default=False), qk_norm=qk_norm),
    }
    own: Tree = {"norm": "rms", "placement": "sandwich"}
    if side == "decoder":
        own |= {"cross_attention": part} if cross else {}
    merged = side == "decoder" and not cross
    ffn = {"kind": "glu", "d_ff": c.size("intermediate_size")}
    blocks = {
        f"{side}_{kind}": {**own, "attention": part | given(window=keys, merged=merged), "ffn": ffn}
        for kind, keys in (("sliding", window), ("full", None))
        if kind in attends
    }
    layers = [f"{side}_{kind}" for kind in attends]
    fields = given(vocab=vocab, d_model=d_model, positions={"kind": "rotary"}, final_norm="rms")
    return blocks, stack(layers, **fields)
