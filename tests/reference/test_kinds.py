"""Kinds and fields that no bundled model has, each proved in a small description."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.support.describing import descriptions, layer
from txcalc.errors import RefusedError, TxcalcError
from txcalc.reference.prove import prove

Tree = dict[str, Any]

MHA: Tree = {"kind": "mha", "n_heads": 2, "head_dim": 6}
GQA: Tree = {"kind": "gqa", "n_heads": 6, "n_kv_heads": 2, "head_dim": 4}
MLA: Tree = {
    "kind": "mla", "n_heads": 3, "kv_rank": 5, "nope_dim": 4, "rope_dim": 2, "v_dim": 7,
}  # fmt: skip
MOE: Tree = {"kind": "moe", "n_experts": 5, "top_k": 2, "d_expert": 9}
FFN: Tree = {"kind": "glu", "d_ff": 11}
ROTARY: Tree = {"kind": "rotary"}

ATTENTIONS: dict[str, Tree] = {
    "a window": MHA | {"window": 3},
    "a window longer than the text": GQA | {"window": 30},
    "a chunk": GQA | {"chunk": 4},
    "a chunk that ends with the text": GQA | {"chunk": 3},
    "a cache of one less than the window": GQA | {"window": 4, "kept": 3, "sinks": True},
    "a gate a head": GQA | {"gated": "head", "bias": ["gate", "o"]},
    "a gate a channel": MHA | {"gated": True, "bias": True},
    "norms of layers": GQA | {"qk_norm": "width", "qk_norm_kind": "layer"},
    "values of another width": GQA | {"v_dim": 3, "qk_norm": "head"},
    "keys that are values": GQA | {"k_is_v": True},
    "experts of queries": {
        "kind": "moa",
        "n_experts": 5,
        "top_k": 2,
        "n_kv_heads": 3,
        "head_dim": 4,
        "bias": True,
    },
    "latents of queries": MLA | {"q_rank": 6, "bias": True, "rope_norm": True},
    "a window of latents": MLA | {"window": 3, "sinks": True, "gate": "head"},
    "gates of latent attention": MLA | {"gate": "channel", "o_bias": True},
    "a gate of the query's projection": MLA | {"q_rank": 6, "gate": "query"},
}
SSMS: dict[str, Tree] = {
    "rwkv": {"kind": "rwkv", "d_inner": 7},
    "short convolution": {"kind": "short_conv", "d_conv": 3, "bias": True},
    "kda": {"kind": "kda", "n_heads": 2, "head_dim": 3, "d_conv": 4, "gate_rank": 5},
    "kda of whole gates": {"kind": "kda", "n_heads": 2, "head_dim": 3, "d_conv": 2},
    "gated delta": {
        "kind": "gated_delta", "n_k_heads": 2, "n_v_heads": 6, "k_dim": 3, "v_dim": 5, "d_conv": 4,
    },
    "lightning": {"kind": "lightning", "n_heads": 2, "head_dim": 5},
    "mlstm": {"kind": "mlstm", "n_heads": 2, "d_qk": 6, "d_v": 10, "bias": True},
    "rg_lru": {"kind": "rg_lru", "d_inner": 12, "n_gate_blocks": 3, "gate_dim": 4, "d_conv": 4},
    "mamba": {
        "kind": "mamba", "d_inner": 9, "d_state": 4, "d_conv": 3, "dt_rank": 2, "bias": True,
        "inner_norms": True,
    },
    "mamba2": {
        "kind": "mamba2", "n_ssm_heads": 6, "ssm_head_dim": 5, "d_state": 4, "n_groups": 2,
        "d_conv": 3, "bias": ["in"], "gated_norm": False,
    },
}  # fmt: skip
MIXTURES: dict[str, Tree] = {
    "plain experts with biases": MOE | {"expert": "plain", "bias": True, "router_bias": True},
    "gates of shared experts": MOE | {"n_shared": 3, "shared_gate": "each", "shared_bias": True},
    "experts of a latent": MOE | {"d_latent": 7, "router_bias": "buffer"},
    "no router": MOE | {"router": False, "n_shared": 2, "d_shared": 4, "shared_gate": True},
}
BLOCKS: dict[str, Tree] = {
    "channel mixing": {"ssm": SSMS["rwkv"], "ffn": {"kind": "channel_mixing", "d_ff": 9}},
    "loops": {"attention": MHA, "ffn": FFN, "loops": 3},
    "loops of shared layers": {"attention": MHA, "loops": 2, "shared": True},
    "attention and ssm side by side": {"attention": GQA, "ssm": SSMS["mamba2"], "ffn": FFN},
    "mixed streams": {
        "attention": MHA, "ffn": FFN, "residual": {"kind": "hyper", "n_streams": 3, "mixed": True},
    },
    "streams": {"attention": MHA, "ffn": FFN, "residual": {"kind": "hyper", "n_streams": 2}},
    "altup": {"attention": MHA, "ffn": FFN, "residual": {"kind": "altup", "n_copies": 3}},
    "a filter of each channel": {
        "attention": MHA, "tensors": {"mix": {"use": "conv", "dims": [8, 3], "fmt": "fp32"}},
    },
    "tensors": {
        "ffn": FFN,
        "tensors": {
            "wide": {"use": "matmul", "dims": [5, 8], "copies": 3, "used": 2, "repeats": 2},
            "ids": {"use": "lookup", "dims": [7, 4]},
            "scale": {"use": "elementwise", "dims": [3, 2]},
        },
    },
}  # fmt: skip
CASES = {
    **{name: {"attention": attention, "ffn": FFN} for name, attention in ATTENTIONS.items()},
    **{name: {"ssm": ssm, "ffn": FFN} for name, ssm in SSMS.items()},
    **{name: {"attention": MHA, "ffn": ffn} for name, ffn in MIXTURES.items()},
    **BLOCKS,
}
PLACEMENTS = ("pre", "post", "output", "sandwich", "parallel", "parallel_two_norms")
POSITIONS = (
    ROTARY, {"kind": "rotary", "width": 4}, {"kind": "alibi"}, {"kind": "sinusoidal"},
    {"kind": "learned", "n_positions": 20}, {"kind": "relative", "n_buckets": 4, "n_heads": 2},
)  # fmt: skip


@given(descriptions())
def test_any_description_that_runs_is_proved(tree: Tree) -> None:
    try:
        proof = prove(tree, "generated")
    except RefusedError:
        return
    assert not proof.failed


def decoder(count: int = 2, positions: Tree = ROTARY, **block: Any) -> Tree:
    """A decoder with a head, its layers of one kind."""
    tree = layer(**{"norm": "rms"} | block)
    tree["layers"] |= {"count": count, "positions": positions, "final_norm": "layer"}
    return tree | {"head": {"tied": False, "bias": True}}


def failed(tree: Tree) -> list[Any]:
    """What does not hold of a description, which is run as it is."""
    proof = prove(tree, "test")
    assert not proof.scaled
    return proof.failed


@pytest.mark.parametrize("block", CASES.values(), ids=CASES)
def test_a_kind_is_proved(block: Tree) -> None:
    assert not failed(decoder(**block))


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("norm", ["layer", "layer_no_bias", "none"])
def test_norms_are_proved_wherever_they_stand(placement: str, norm: str) -> None:
    assert not failed(decoder(attention=MHA, ffn=FFN, placement=placement, norm=norm))


@pytest.mark.parametrize("positions", POSITIONS, ids=str)
def test_positions_are_proved(positions: Tree) -> None:
    assert not failed(decoder(positions=positions, attention=MHA, ffn=FFN))


@pytest.mark.parametrize("attention", [MHA | {"window": 4}, GQA, MLA | {"window": 5}], ids=str)
def test_an_encoder_is_proved(attention: Tree) -> None:
    """Half a window lies on either side; latent attention has two forms."""
    tree = decoder(attention=attention, ffn=FFN)
    tree["encoder"] = tree.pop("layers") | {"token_types": 2}
    tree["head"] = {"tied": True, "transform": "layer"}
    assert not failed(tree)


def test_an_encoder_beside_a_decoder_of_another_width_is_proved() -> None:
    tree = decoder(attention=GQA, cross_attention=GQA | {"qk_norm": "head"}, ffn=FFN)
    tree["blocks"]["encoder"] = {"norm": "rms", "attention": MHA, "ffn": FFN, "shared": True}
    tree["encoder"] = {"count": 3, "pattern": ["encoder"], "d_model": 10, "vocab": 7}
    tree["layers"]["vocab"] = 10
    assert not failed(tree)


def test_patterns_ends_and_keys_of_an_earlier_layer_are_proved() -> None:
    tree = decoder(attention=GQA | {"window": 3}, ffn=FFN)
    full, sharing = {"attention": GQA, "norm": "rms"}, GQA | {"shares_kv": True}
    tree["blocks"] |= {"full": full, "sharing": full | {"attention": sharing}}
    tree["layers"] |= {
        "count": 7, "first": ["full"], "pattern": ["decoder", "sharing"], "last": ["full"],
    }  # fmt: skip
    assert not failed(tree)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"attention": GQA | {"shares_kv": True}}, "no earlier layer"),
        ({"attention": MHA | {"differential": True}}, "differential"),
        ({"attention": MLA | {"shared_top_k": 3}}, "shared_top_k"),
        ({"ffn": MOE | {"n_zero": 2}}, "n_zero"),
        ({"ffn": FFN, "loops": 2, "loop_state": "last"}, "loop_state last"),
        ({"ffn": FFN, "partial": True}, "partial"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_has_no_run_is_refused_by_name(block: Tree, said: str) -> None:
    with pytest.raises(RefusedError, match=said):
        failed(decoder(**block))


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"attention": MHA | {"window": 4, "kept": 2}}, "kept 2"),
        ({"attention": MHA | {"gated": True, "v_dim": 5}}, "gated"),
        ({"ssm": SSMS["rg_lru"] | {"d_inner": 10}}, "10 channels, of which gates have 12"),
        ({"ssm": SSMS["mamba2"] | {"n_groups": 4}}, "6 heads, which 4 groups do not divide"),
        ({"ssm": SSMS["gated delta"] | {"n_k_heads": 4}}, "6 value heads, which 4 key"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_sizes_that_no_run_allows_are_refused(block: Tree, said: str) -> None:
    with pytest.raises(TxcalcError, match=said):
        failed(decoder(**block))
