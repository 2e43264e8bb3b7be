"""Towers of the thinkers of Qwen-Omni: one for images, one for sound."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import dense, tensor
from txcalc.sources.towers import tower as read
from txcalc.sources.towers.sound import encoder

Towers = dict[str, Tree]

_OURS = ("n_window", "n_window_infer", "conv_chunksize", "scale_embedding", "output_dim",
         "max_source_positions", "downsample_hidden_size")  # fmt: skip


def sound_2_5(c: Config) -> Tree:
    """arXiv:2503.20215 section 2.2: Whisper's layers on blocks of two seconds, summed positions."""
    tree = encoder(c, positions={"kind": "sinusoidal"}, biased=["q", "v", "o"])
    out = c.size("output_dim", default=3584)
    c.ignore(*_OURS)
    return _unruled(tree) | {
        "tensors": {"marks": tensor("lookup", 2, out)},
        "projector": {"merge": 2, "tensors": dense("linear", out, tree["d_model"])},
    }


def sound_3(c: Config) -> Tree:
    """arXiv:2509.17765 section 2.2: convolutions over mels and frames in place of the stem."""
    tree = encoder(c, positions={"kind": "sinusoidal"}, biased=True)
    d_model, wide = tree["d_model"], c.size("downsample_hidden_size", default=480)
    mels, out = c.size("num_mel_bins"), c.size("output_dim", default=3584)
    c.ignore(*_OURS)
    for _ in range(3):
        mels = (mels + 1) // 2
    rows: Tree = {}
    for i, inputs in enumerate((1, wide, wide), 1):
        rows |= dense(f"conv{i}", wide, 9 * inputs)
    rows["conv_out"] = tensor("matmul", d_model, wide * mels)
    joined = dense("linear_1", d_model, d_model) | dense("linear_2", out, d_model)
    rest = {name: field for name, field in _unruled(tree).items() if name != "stem"}
    return rest | {"tensors": rows, "projector": {"tensors": joined}}


def vision_3(c: Config) -> Tree:
    """Qwen3-VL's tower, whose inner mergers are the tower's."""
    from txcalc.sources.towers.qwen import qwen3_vl

    tree = qwen3_vl(c)
    tensors = tree["projector"]["tensors"]
    inner = {n: row for n, row in tensors.items() if n.startswith("deep_")}
    last = {n: row for n, row in tensors.items() if n not in inner}
    inner = {
        n: row | ({"stream": "projected"} if row["use"] == "matmul" else {})
        for n, row in inner.items()
    }
    return tree | {"tensors": inner, "projector": tree["projector"] | {"tensors": last}}


def thinker_2_5(c: Config, d_model: int) -> Towers:
    """Qwen2.5-Omni's thinker."""
    return {
        "audio": read(c, "audio_config", "qwen2_5_omni_audio_encoder"),
        "vision": read(c, "vision_config", "qwen2_5_omni_vision_encoder"),
    }


def thinker_3(c: Config, d_model: int) -> Towers:
    """Qwen3-Omni's thinker."""
    return {
        "audio": read(c, "audio_config", "qwen3_omni_moe_audio_encoder"),
        "vision": read(c, "vision_config", "qwen3_omni_moe_vision_encoder"),
    }


def _unruled(tree: Tree) -> Tree:
    """A tower whose rule of lengths is not described: it runs on blocks of frames."""
    return {name: field for name, field in tree.items() if name != "sound"}
