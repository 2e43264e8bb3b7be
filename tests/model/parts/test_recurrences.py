"""Recurrences: layers and checkpoints as published, and what they keep."""

from __future__ import annotations

import pytest

from tests.support.counting import Tree
from tests.support.describing import layer
from tests.support.running import find, load

MAMBA: Tree = {"kind": "mamba", "d_inner": 1536, "d_state": 16, "d_conv": 4, "dt_rank": 48,
               "conv_bias": True}  # fmt: skip
MAMBA2: Tree = {"kind": "mamba2", "n_ssm_heads": 24, "ssm_head_dim": 64, "d_state": 128,
                "n_groups": 1, "d_conv": 4, "conv_bias": True}  # fmt: skip
DELTA: Tree = {"kind": "gated_delta", "n_k_heads": 16, "n_v_heads": 32, "k_dim": 128,
               "v_dim": 128, "d_conv": 4}  # fmt: skip
KDA: Tree = {"kind": "kda", "n_heads": 32, "head_dim": 128, "d_conv": 4, "gate_rank": 128}
LIGHTNING: Tree = {"kind": "lightning", "n_heads": 64, "head_dim": 128}
MLSTM: Tree = {"kind": "mlstm", "n_heads": 8, "d_qk": 2048, "d_v": 4096}
RG_LRU: Tree = {"kind": "rg_lru", "d_inner": 2560, "n_gate_blocks": 10, "gate_dim": 256,
                "d_conv": 4}  # fmt: skip
CONV: Tree = {"kind": "short_conv", "d_conv": 3}
RWKV: Tree = {"kind": "rwkv", "d_inner": 768}


@pytest.mark.parametrize(
    ("d_model", "ssm", "count", "elements", "kept"),
    [
        # Mamba 130M: the state written and read
        (768, MAMBA, 3_770_880, 2 * 1536 * 16, 2 * 1536 * 4 + 4 * 1536 * 16),
        # Mamba-2 130M
        (768, MAMBA2, 3_764_552, 2 * 1536 * 128, 2 * 1792 * 4 + 4 * 1536 * 128),
        # Qwen3-Next 80B: the state read, corrected and read
        (2048, DELTA, 33_718_464, 3 * 32 * 128**2, 2 * 8192 * 4 + 4 * 32 * 128**2),
        # Kimi Linear 48B
        (2304, KDA, 39_514_272, 3 * 32 * 128**2, 2 * 12288 * 4 + 4 * 32 * 128**2),
        # MiniMax-Text-01
        (6144, LIGHTNING, 251_666_432, 2 * 64 * 128**2, 2 * 64 * 128**2),
        # xLSTM 7B: memory, normaliser and maximum
        (4096, MLSTM, 67_178_512, 8 * (2 * 256 * 512 + 256), 4 * 8 * (256 * 512 + 256 + 1)),
        # RecurrentGemma 2B: the newest input is not kept
        (2560, RG_LRU, 20_999_680, 0, 2 * 2560 * 3 + 4 * 2560),
        # LFM2 1.2B
        (2048, CONV, 16_783_360, 0, 2 * 2048 * 3),
        # RWKV-4 169M: the token before; numerator, denominator and maximum
        (768, RWKV, 4 * 768**2 + 5 * 768, 0, 2 * 768 + 4 * 3 * 768),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_a_published_layer(d_model: int, ssm: Tree, count: int, elements: int, kept: int) -> None:
    model = load(layer(d_model, ssm=ssm))
    assert find(model, "params.block.ssm") == count
    work = find(model, "flops.block.ssm", phase="decode", ctx=5)
    matrices = find(model, "params.block.ssm.matmul")
    assert work == 2 * (matrices + elements)
    assert find(model, "kvcache.fixed", ctx=5, dtype="bf16") == kept
    assert find(model, "kvcache.token", ctx=5) == 0
    assert find(model, "kvcache.sequence", ctx=50, dtype="bf16") == kept


def model_of(
    d_model: int, vocab: int, blocks: Tree, *, tied: bool = False, **stack: object
) -> Tree:
    tree = layer(d_model) | {"vocab": vocab, "head": {"tied": tied}}
    tree["blocks"] = {name: {"norm": "rms"} | block for name, block in blocks.items()}
    return tree | {"layers": {"pattern": list(blocks), "final_norm": "rms", **stack}}


def glu(d_ff: int) -> Tree:
    return {"kind": "glu", "d_ff": d_ff}


SOFTMAX: Tree = {"kind": "gqa", "n_heads": 64, "n_kv_heads": 8, "head_dim": 128}
EXPERTS: Tree = {"kind": "moe", "n_experts": 32, "top_k": 2, "d_expert": 9216}
LFM: Tree = {"kind": "gqa", "n_heads": 32, "n_kv_heads": 8, "qk_norm": "head"}
GRIFFIN_FFN: Tree = {"ffn": {"kind": "glu", "d_ff": 7680, "bias": True}}
GRIFFIN: Tree = {"kind": "gqa", "n_heads": 10, "n_kv_heads": 1, "head_dim": 256, "bias": ["o"]}
KIMI_MLA: Tree = {"kind": "mla", "n_heads": 32, "kv_rank": 512, "nope_dim": 128, "rope_dim": 64,
                  "v_dim": 128}  # fmt: skip
KIMI_MOE: Tree = {"kind": "moe", "n_experts": 256, "top_k": 8, "d_expert": 1024, "n_shared": 1,
                  "router_bias": True}  # fmt: skip


@pytest.mark.parametrize(
    ("total", "tree"),
    [
        (129_135_360, model_of(768, 50280, {"mamba": {"ssm": MAMBA}}, count=24, tied=True)),
        (128_989_632, model_of(768, 50288, {"mamba": {"ssm": MAMBA2}}, count=24, tied=True)),
        (49_122_681_728, model_of(
            2304, 163840, count=27, first=["dense"], last=["latent"],
            blocks={"delta": {"ssm": KDA, "ffn": KIMI_MOE},
                    "latent": {"attention": KIMI_MLA, "ffn": KIMI_MOE},
                    "dense": {"ssm": KDA, "ffn": glu(9216)}},
            pattern=["delta", "delta", "latent", "delta"])),
        (456_089_655_296, model_of(
            6144, 200064, count=80,
            blocks={"linear": {"ssm": LIGHTNING, "ffn": EXPERTS},
                    "softmax": {"attention": SOFTMAX, "ffn": EXPERTS}},
            pattern=["linear"] * 7 + ["softmax"])),
        (6_865_424_896, model_of(
            4096, 50304, count=32, blocks={"mlstm": {"ssm": MLSTM, "ffn": glu(10944)}})),
        (2_682_862_080, model_of(
            2560, 256000, count=26, tied=True,
            blocks={"recurrent": {"ssm": RG_LRU} | GRIFFIN_FFN,
                    "local": {"attention": GRIFFIN} | GRIFFIN_FFN},
            pattern=["recurrent", "recurrent", "local"])),
        (1_170_340_608, model_of(
            2048, 65536, count=16, tied=True,
            blocks={"conv": {"ssm": CONV, "ffn": glu(8192)},
                    "full": {"attention": LFM, "ffn": glu(8192)}},
            first=["conv", "conv", "full"], pattern=["conv", "conv", "full"],
            last=["conv", "full", "conv", "full", "conv", "full", "conv"])),
    ],
    ids=["Mamba 130M", "Mamba-2 130M", "Kimi Linear 48B", "MiniMax-Text-01", "xLSTM 7B",
         "RecurrentGemma 2B", "LFM2 1.2B"],
)  # fmt: skip
def test_elements_of_a_published_checkpoint(total: int, tree: Tree) -> None:
    assert find(load(tree), "params.total") == total


def test_rwkv_by_the_formulas_of_its_paper() -> None:
    """arXiv:2305.13048 section 4: 2VD + 13D^2L + D(11L + 4), and 2(VD + 13D^2L) a token."""
    vocab, d, layers = 50277, 768, 12
    mixing: Tree = {"ssm": RWKV, "ffn": {"kind": "channel_mixing", "d_ff": 4 * d}}
    tree = model_of(
        d, vocab, {"rwkv": mixing | {"norm": "layer"}}, count=layers, embedding_norm="layer"
    )
    tree["layers"]["final_norm"] = "layer"
    model = load(tree)
    matrices = 13 * d**2 * layers
    assert find(model, "params.total") == 2 * vocab * d + matrices + d * (11 * layers + 4)
    assert find(model, "flops.total", ctx=9) == 2 * (vocab * d + matrices)


@pytest.mark.parametrize(
    ("ssm", "change", "more"),
    [
        (MAMBA, {"conv_bias": False}, -1536),
        (MAMBA, {"bias": True}, 2 * 1536 + 768),
        (MAMBA, {"inner_norms": True}, 48 + 16 + 16),
        (MAMBA2, {"bias": ["in"]}, 2 * 1536 + 2 * 128 + 24),
        (MAMBA2, {"bias": ["out"]}, 768),
        (MAMBA2, {"gated_norm": False}, -1536),
        (MLSTM, {"bias": True}, 2 * 2048 + 2 * 4096 + 768 + 4096),
        (CONV, {"bias": True}, 5 * 768),
        (KDA | {"gate_rank": 8}, {"gate_rank": 9}, 2 * (768 + 4096)),
    ],
)
def test_what_a_field_adds_to_the_parameters(ssm: Tree, change: Tree, more: int) -> None:
    without, with_ = (find(load(layer(768, ssm=s)), "params.blocks") for s in (ssm, ssm | change))
    assert with_ - without == more
