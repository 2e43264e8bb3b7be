"""Perceiver IO: a few latents that read the input, think, and are read by the output."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import dense, layer_norm, lookup, tensor

_DECODED = 8 * 32
"""Channels of the queries and keys of the class's decoder."""


def perceiver(c: Config) -> Tree:
    """arXiv:2107.14795: cross-attention into latents, self-attention among them, and out again."""
    c.only("masked")
    c.ignore(*_OTHER_INPUTS)
    width, latent = c.size("d_model"), c.size("d_latents")
    heads = [c.size(f"num_{kind}_attention_heads", default=8) for kind in ("self", "cross")]
    qk, v = c.maybe("qk_channels"), c.maybe("v_channels")
    if any(size % n for n in heads for size in (latent, qk or n, v or n)):
        c.refuse("d_latents", "the channels are no multiple of the heads")
    shape = c.word("cross_attention_shape_for_attention", default="kv", known=("q", "kv"))
    across = qk or (latent if shape == "q" else width)
    wide = {
        name: c.size(f"{name}_attention_widening_factor", default=1) for name in ("self", "cross")
    }
    rows = c.size("max_position_embeddings")
    tensors = {
        "latents": tensor("elementwise", c.size("num_latents"), latent),
        "positions": lookup(rows, width),
        "output_positions": lookup(rows, width),
        "output_bias": tensor("bias", "vocab"),
        **_layer("read_", latent, width, across, v or across, latent, wide["cross"], crosses=True),
        **_layer("write_", width, latent, _DECODED, width, width, 1, crosses=True),
    }
    if (v or qk or latent) != latent:
        c.refuse("v_channels", f"{v or qk} is not d_latents {latent}, to which it is added")
    own = _layer("", latent, latent, qk or latent, v or qk or latent, latent, wide["self"])
    return {
        "d_model": width,
        "vocab": c.size("vocab_size"),
        "context": rows,
        "blocks": {"latents": {"norm": "none", "partial": True, "tensors": own}},
        "encoder": {"count": c.size("num_self_attends_per_block"), "pattern": ["latents"]},
        "head": {"tied": True},
        "tensors": tensors,
    }


def _layer(
    at: str, q_dim: int, kv_dim: int, qk: int, v: int, out: int, wide: int, *, crosses: bool = False
) -> Tree:
    """Attention from one width to another and the FFN behind it, with their norms."""
    tensors = layer_norm(f"{at}q_norm", q_dim)
    tensors |= layer_norm(f"{at}kv_norm", kv_dim) if crosses else {}
    tensors |= dense(f"{at}q", qk, q_dim) | dense(f"{at}k", qk, kv_dim) | dense(f"{at}v", v, kv_dim)
    tensors |= dense(f"{at}o", out, v) | layer_norm(f"{at}ffn_norm", q_dim)
    return tensors | dense(f"{at}up", wide * q_dim, q_dim) | dense(f"{at}down", q_dim, wide * q_dim)


_OTHER_INPUTS = (
    "num_blocks", "use_query_residual", "image_size", "train_size", "num_frames",
    "audio_samples_per_frame", "samples_per_patch", "output_shape", "output_num_channels",
    "_label_trainable_num_channels", "tie_word_embeddings",
)  # fmt: skip
