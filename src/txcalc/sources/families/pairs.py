"""Pairs of a text encoder and an image encoder that one space joins: CLIP, SigLIP and their kin."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.parts import mha
from txcalc.sources.readers.trees import dense, given, tensor
from txcalc.sources.readers.vision import learned, plain
from txcalc.sources.towers import inner, ordered
from txcalc.sources.towers import tower as read


def clip(c: Config) -> Tree:
    """arXiv:2103.00020: one matrix of each side, a learned temperature."""
    return _clip(c, "clip_text_model", "clip_vision_model")


def clipseg(c: Config) -> Tree:
    """arXiv:2112.10003: CLIP; the class that segments has a decoder besides, which is not it."""
    c.ignore("extract_layers", "reduce_dim", "decoder_num_attention_heads", "conditional_layer")
    c.ignore(
        "decoder_intermediate_size", "use_complex_transposed_convolution", "decoder_hidden_act"
    )
    return _clip(c, "clipseg_text_model", "clipseg_vision_model")


def owlvit(c: Config) -> Tree:
    """arXiv:2205.06230: CLIP's sides, shorter texts and larger images."""
    return _clip(c, "owlvit_text_model", "owlvit_vision_model")


def siglip(c: Config) -> Tree:
    """arXiv:2303.15343: a pooler of each side in place of matrices, a temperature and a bias."""
    return _siglip(c, "siglip_text_model", "siglip_vision_model")


def siglip2(c: Config) -> Tree:
    """arXiv:2502.14786."""
    return _siglip(c, "siglip2_text_model", "siglip2_vision_model")


def _clip(c: Config, text_type: str, vision_type: str) -> Tree:
    text, vision = inner(c, "text_config", text_type), read(c, "vision_config", vision_type)
    text.ignore("projection_dim")
    out = c.size("projection_dim", default=512)
    tensors = {
        "visual": tensor("matmul", out, vision["d_model"], stream="sequence"),
        "text": tensor("matmul", out, "d_model", stream="none"),
        "temperature": tensor("elementwise", 1),
    }
    c.ignore("logit_scale_init_value", "text_config_dict", "vision_config_dict")
    return _pair(_text(text), vision, tensors)


def _siglip(c: Config, text_type: str, vision_type: str) -> Tree:
    text, vision = inner(c, "text_config", text_type), read(c, "vision_config", vision_type)
    out = text.size("projection_size", default=text.size("hidden_size"))
    pooler = dense("pooler", out, "d_model")
    pooler["pooler"] |= {"stream": "sequence"}
    tree = _text(text) | {"tensors": pooler}
    tensors = {name: tensor("elementwise", 1) for name in ("temperature", "bias")}
    return _pair(tree, vision, tensors)


def _text(c: Config) -> Tree:
    """A text encoder whose tokens see those before them, or all of them."""
    c.ignore("vocab_size", "is_decoder")
    block = {"norm": "layer", "attention": mha(c.size("num_attention_heads"), bias=True),
             "ffn": plain(c)}  # fmt: skip
    context = c.size("max_position_embeddings")
    return {
        "d_model": c.size("hidden_size"),
        "vocab": c.size("vocab_size"),
        "context": context,
        "blocks": {"encoder": block},
        "encoder": {
            "count": n_layers(c), "pattern": ["encoder"], "positions": learned(context),
            "final_norm": "layer",
        },
    }  # fmt: skip


def _pair(text: Tree, vision: Tree, tensors: Tree) -> Tree:
    beside = given(projector={"tensors": tensors})
    note = "its text side is the text model; params.whole counts both"
    return text | {"scope": "text", "towers": {"vision": ordered(vision | beside)}, "notes": [note]}
