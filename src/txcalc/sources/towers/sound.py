"""Towers for sound: Whisper's encoder and those of its line, and wav2vec 2.0's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.parts import mha
from txcalc.sources.readers.trees import dense, given, tensor
from txcalc.sources.readers.vision import ROTARY, learned, mlp, norm, plain
from txcalc.sources.towers import tower as read

Towers = dict[str, Tree]

_NAMES = {
    "hidden_size": "d_model", "num_hidden_layers": "encoder_layers",
    "num_attention_heads": "encoder_attention_heads", "intermediate_size": "encoder_ffn_dim",
}  # fmt: skip
_BIASED = ["q", "v", "o"]


def whisper(c: Config) -> Tree:
    """arXiv:2212.04356: keys without bias; the second convolution halves the frames."""
    _renamed(c)
    return encoder(c, positions=learned(c.size("max_source_positions")), biased=_BIASED)


def encoder(c: Config, *, positions: Tree, biased: bool | list[str]) -> Tree:
    """Whisper's layers by either of the names that configs have for their sizes."""
    _renamed(c)
    c.ignore("scale_embedding", "vocab_size", "num_key_value_heads", "head_dim", "max_length")
    heads = mha(c.size("num_attention_heads"), bias=biased)
    return _whisper(c, heads, plain(c), positions=positions)


def _renamed(c: Config) -> None:
    if not c.has("hidden_size") or c.has("d_model"):
        c.rename(_NAMES)
        c.usual = {**c.usual, **{n: c.usual[own] for n, own in _NAMES.items() if own in c.usual}}


def glmasr(c: Config) -> Tree:
    """Published code of GLM-ASR: Whisper's encoder with rotary positions."""
    c.ignore("max_position_embeddings")
    heads = mha(c.size("num_attention_heads"), c.maybe("num_key_value_heads"), bias=_BIASED)
    return _whisper(c, heads, plain(c), positions=ROTARY)


def voxtral_realtime(c: Config) -> Tree:
    """Published code of Voxtral Realtime: RMSNorm, a gated FFN, a window of past frames.

    Sound comes in a stream: what its processor adds for the delay is not described.
    """
    c.ignore("max_position_embeddings", "vocab_size")
    heads = mha(
        c.size("num_attention_heads"), c.maybe("num_key_value_heads"), bias=_BIASED,
        head_dim=c.size("head_dim"), window=c.size("sliding_window"),
    )  # fmt: skip
    ffn = {"kind": "glu", "d_ff": c.size("intermediate_size")}
    down = {"ffn_down_bias": tensor("bias", "d_model")}
    return _whisper(c, heads, ffn, positions=ROTARY, norm="rms", block=down, padded=False)


def _whisper(
    c: Config, heads: Tree, ffn: Tree, *, positions: Tree, norm: str = "layer",
    block: Tree | None = None, padded: bool = True,
) -> Tree:  # fmt: skip
    d_model = c.size("hidden_size")
    first = {"outputs": d_model, "inputs": c.size("num_mel_bins"), "taps": 3, "padding": 1}
    second = {**first, "inputs": d_model, "stride": 2}
    layer = {"norm": norm, "attention": heads, "ffn": ffn} | given(tensors=block)
    return {
        "reads": "sound",
        **({"sound": {"rate": 16000, "hop": 160, "seconds": 30}} if padded else {}),
        "d_model": d_model,
        "stem": {"conv1": first | {"bias": True}, "conv2": second | {"bias": True}},
        "blocks": {"encoder": layer},
        "layers": {
            "count": n_layers(c), "pattern": ["encoder"], "positions": positions,
            "final_norm": norm,
        },
    }  # fmt: skip


def qwen2_audio(c: Config, d_model: int) -> Towers:
    """arXiv:2407.10759: frames in pairs, one matrix."""
    sound = read(c, "audio_config", "qwen2_audio_encoder")
    sound["sound"] |= {"pieces": 1}
    return _joined(sound, dense("linear", d_model, sound["d_model"]), merge=2)


def voxtral(c: Config, d_model: int) -> Towers:
    """arXiv:2507.13264: four frames side by side, two matrices."""
    sound = read(c, "audio_config", f"{c.type}_encoder")
    wide = c.needed("audio_config").size("intermediate_size")
    if c.type == "voxtral_realtime":
        wide = sound["d_model"] * c.size("downsample_factor", default=4)
    return _joined(sound, mlp(d_model, wide, bias=False), merge=wide // sound["d_model"])


def audioflamingo3(c: Config, d_model: int) -> Towers:
    """arXiv:2507.08128: frames in pairs, two matrices."""
    sound = read(c, "audio_config", "audioflamingo3_encoder")
    biased = c.flag("projector_bias", default=True)
    return _joined(sound, mlp(d_model, sound["d_model"], bias=biased), merge=2)


def glmasr_whole(c: Config, d_model: int) -> Towers:
    """GLM-ASR: four frames side by side, two matrices, the first twice as wide."""
    sound = read(c, "audio_config", "glmasr_encoder")
    wide = c.needed("audio_config").size("intermediate_size")
    return _joined(sound, mlp(d_model, wide, 2 * d_model), merge=wide // sound["d_model"])


def moss(c: Config, d_model: int) -> Towers:
    """Published code of MOSS Transcribe: frames side by side, two matrices, a norm."""
    sound = read(c, "audio_config", "moss_transcribe_diarize_audio")
    wide = c.size("adaptor_input_dim", default=4 * sound["d_model"])
    biased = c.flag("projector_bias", default=True)
    rows = mlp(d_model, wide, bias=biased) | norm("norm", d_model)
    return _joined(sound, rows, merge=wide // sound["d_model"])


def omniasr_whole(c: Config, d_model: int) -> Towers:
    """Published code of Omnilingual ASR: one matrix."""
    sound = read(c, "audio_config", "omniasr_audio")
    return _joined(sound, dense("linear", d_model, sound["d_model"]))


def _joined(sound: Tree, tensors: Tree, **fields: object) -> Towers:
    return {"audio": sound | {"projector": {**given(**fields), "tensors": tensors}}}


def wav2vec2(c: Config) -> Tree:
    """arXiv:2006.11477: convolutions over samples, and one for positions; norms by flag."""
    return _wav2vec2(c, _quantizer(c) if c.class_.endswith("ForPreTraining") else {})


def hubert(c: Config) -> Tree:
    """arXiv:2106.07447: the same without codes."""
    if c.flag("conv_pos_batch_norm", default=False):
        c.unsupported("conv_pos_batch_norm true of type 'hubert'")
    return _wav2vec2(c, {}, projection_norm=c.flag("feat_proj_layer_norm", default=True))


def data2vec_audio(c: Config) -> Tree:
    """arXiv:2202.03555: several short convolutions for positions, norms of each convolution."""
    taps, n = (
        c.size("conv_pos_kernel_size", default=19),
        c.size("num_conv_pos_embeddings", default=5),
    )
    return _wav2vec2(c, {}, each_normed=True, taps=taps, convolutions=n, gains=False)


def omniasr(c: Config) -> Tree:
    """Published code of Omnilingual ASR: norms of each convolution, norms before sub-layers."""
    return _wav2vec2(c, {}, each_normed=True, stable=True, masks=False, gains=False)


def _wav2vec2(
    c: Config, tensors: Tree, *, projection_norm: bool = True, each_normed: bool | None = None,
    stable: bool | None = None, taps: int | None = None, convolutions: int = 1, gains: bool = True,
    masks: bool | None = None,
) -> Tree:  # fmt: skip
    for key in ("add_adapter", "adapter_attn_dim"):
        if c.raw(key):
            c.unsupported(f"{key} {c.raw(key)} of type {c.type!r}")
    c.ignore(*_IDLE)
    d_model, widths = c.size("hidden_size"), c.sizes("conv_dim") or [512] * 7
    kernels = c.sizes("conv_kernel", length=len(widths)) or [10, 3, 3, 3, 3, 2, 2]
    strides = c.sizes("conv_stride", length=len(widths)) or [5, 2, 2, 2, 2, 2, 2]
    biased = c.flag("conv_bias", default=c.type == "omniasr_audio")
    if each_normed is None:
        each_normed = c.word("feat_extract_norm", default="group", known=("group", "layer")) != (
            "group"
        )
    if stable is None:
        stable = c.flag("do_stable_layer_norm", default=False)
    if masks is None:
        masks = any(
            c.number(f"mask_{of}_prob", default=default) > 0
            for of, default in (("time", 1), ("feature", 0))
        )
    groups = c.size("num_conv_pos_embedding_groups", default=16)
    taps = taps or c.size("num_conv_pos_embeddings", default=128)
    position = {
        "outputs": d_model, "inputs": d_model // groups, "taps": taps, "padding": taps // 2,
        "bias": True, "beside": True,
    }  # fmt: skip
    stem = _stem(widths, kernels, strides, biased=biased)
    names = ["positions"] if convolutions == 1 else [f"positions{i}" for i in range(convolutions)]
    stem |= dict.fromkeys(names, position)
    for i, width in enumerate(widths if each_normed else widths[:1]):
        tensors = tensors | norm(f"conv{i}_norm", width)
    tensors = {
        **({"mask": tensor("elementwise", d_model)} if masks else {}),
        **tensors,
        **(norm("projection_norm", widths[-1]) if projection_norm else {}),
        **dense("projection", d_model, widths[-1]),
        **({"position_gains": tensor("elementwise", taps)} if gains else {}),
    }
    attend = mha(c.size("num_attention_heads"), bias=True)
    block = {"norm": "layer", "attention": attend, "ffn": plain(c)}
    return {
        "reads": "sound",
        "sound": {"rate": 16000, "hop": 1},
        "d_model": d_model,
        "stem": stem,
        "blocks": {"encoder": block | given(placement=None if stable else "post")},
        "layers": {
            "count": n_layers(c), "pattern": ["encoder"],
            **({"final_norm": "layer"} if stable else {"embedding_norm": "layer"}),
        },
        "tensors": tensors,
    }  # fmt: skip


def _stem(
    widths: Sequence[int], kernels: Sequence[int], strides: Sequence[int], *, biased: bool
) -> dict[str, Any]:
    """Convolutions over samples, one after another."""
    inputs = [1, *widths]
    return {
        f"conv{i}": {"outputs": width, "inputs": inputs[i], "taps": kernels[i],
                     "stride": strides[i], **given(bias=biased)}
        for i, width in enumerate(widths)
    }  # fmt: skip


def _quantizer(c: Config) -> Tree:
    """The codes that training compares with, and projections of both sides."""
    groups = c.size("num_codevector_groups", default=2)
    codes = groups * c.size("num_codevectors_per_group", default=320)
    width, out = c.size("codevector_dim", default=256), c.size("proj_codevector_dim", default=256)
    last = (c.sizes("conv_dim") or [512])[-1]
    return {
        "codes": tensor("lookup", codes, width // groups),
        **dense("codes_score", codes, last),
        **dense("project_hidden", out, c.size("hidden_size")),
        **dense("project_codes", out, width),
    }


_IDLE = (
    "vocab_size", "num_negatives", "codevector_dim", "proj_codevector_dim", "num_codevector_groups",
    "num_codevectors_per_group", "contrastive_logits_temperature", "diversity_loss_weight",
    "ctc_loss_reduction", "ctc_zero_infinity", "use_weighted_layer_sum", "classifier_proj_size",
    "tdnn_dim", "tdnn_kernel", "tdnn_dilation", "xvector_output_dim", "adapter_kernel_size",
    "adapter_stride", "num_adapter_layers", "output_hidden_size", "num_feat_extract_layers",
    "feat_extract_activation", "freeze_feat_extract_train", "no_mask_channel_overlap",
    "no_mask_time_overlap", "feat_proj_dropout", "num_ctc_classes", "replace_prob",
    "mask_channel_length", "mask_channel_min_space", "mask_channel_other", "mask_channel_prob",
    "mask_channel_selection", "do_stable_layer_norm", "feat_extract_norm", "add_adapter",
)  # fmt: skip
"""Keys of training, and of classes with heads."""
