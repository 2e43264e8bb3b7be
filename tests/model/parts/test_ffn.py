"""Feed-forward networks and mixtures of them: published layers, and what a token uses."""

from __future__ import annotations

import pytest

from tests.support.counting import Tree
from tests.support.describing import layer
from tests.support.running import find, load

MOE: Tree = {"kind": "moe", "n_experts": 4, "top_k": 1, "d_expert": 8, "n_shared": 2}


def parameters(ffn: Tree) -> int:
    return int(find(load(layer(20, ffn=ffn)), "params.block.ffn"))


@pytest.mark.parametrize(
    ("d_model", "ffn", "count"),
    [
        (768, {"kind": "plain", "d_ff": 3072, "bias": True}, 4_722_432),  # GPT-2 small
        (4096, {"kind": "glu", "d_ff": 11008}, 135_266_304),  # Llama 7B
        (4096, {"kind": "moe", "n_experts": 8, "top_k": 2, "d_expert": 14336},
         1_409_318_912),  # Mixtral 8x7B
        (768, {"kind": "channel_mixing", "d_ff": 3072}, 9 * 768**2 + 2 * 768),  # RWKV-4 169M
    ],
)  # fmt: skip
def test_parameters_of_a_published_layer(d_model: int, ffn: Tree, count: int) -> None:
    assert find(load(layer(d_model, ffn=ffn)), "params.block.ffn") == count


def test_a_token_uses_its_experts() -> None:
    """Mixtral 8x7B: 46.7 and 12.9 billion, arXiv:2401.04088 section 2.1."""
    moe: Tree = {"kind": "moe", "n_experts": 8, "top_k": 2, "d_expert": 14336}
    attention: Tree = {"kind": "gqa", "n_heads": 32, "n_kv_heads": 8}
    tree = layer(4096, norm="rms", attention=attention, ffn=moe)
    tree |= {"vocab": 32000, "head": {"tied": False}}
    tree["layers"] |= {"count": 32, "final_norm": "rms"}
    assert find(load(tree), "params.total") == 46_702_792_704
    assert find(load(tree), "params.active") == 12_879_925_248


def test_experts_without_weights_take_their_share() -> None:
    """LongCat-Flash: of 512 + 256 experts 12 are chosen, 8 of the first, arXiv:2509.01322."""
    moe: Tree = {"kind": "moe", "n_experts": 512, "n_zero": 256, "top_k": 12, "d_expert": 2048}
    model = load(layer(6144, ffn=moe))
    each, router = 3 * 6144 * 2048, 768 * 6144
    assert find(model, "params.blocks") == 512 * each + router
    unused = find(model, "params.total") - find(model, "params.active")
    assert unused == (512 - 8) * each
    assert find(model, "flops.block.ffn", ctx=3) == 2 * (8 * each + router)


@pytest.mark.parametrize(
    ("change", "more"),
    [
        ({"router": False}, -4 * 20),
        ({"router_bias": True}, 4),
        ({"router_bias": "buffer"}, 0),
        ({"shared_gate": True}, 20),
        ({"shared_gate": "each"}, 2 * 20),
        ({"bias": True}, 4 * (8 + 8 + 20)),
        ({"shared_bias": True}, 2 * (8 + 8 + 20)),
        ({"d_shared": 9}, 2 * 3 * 20),
        ({"expert": "plain"}, -(4 + 2) * 8 * 20),
        ({"n_zero": 3}, 3 * 20),
        ({"n_zero": 3, "zero_weights": True}, 3 * 20 + 3 * 2 * 8 * 20),
        ({"d_latent": 5}, 2 * 5 * 20 - 4 * 3 * 8 * 15),
        ({"d_latent": 5, "shared_bias": True}, 2 * 5 * 20 - 4 * 3 * 8 * 15 + 5 + 20 + 2 * 36),
    ],
)
def test_what_a_field_adds_to_the_parameters(change: Tree, more: int) -> None:
    assert parameters(MOE | change) - parameters(MOE) == more


def test_a_corrected_router_bias_is_a_buffer() -> None:
    model = load(layer(20, ffn=MOE | {"router_bias": "buffer"}))
    assert find(model, "params.buffers") == 4


def test_channel_mixing_keeps_the_token_before() -> None:
    model = load(layer(20, ffn={"kind": "channel_mixing", "d_ff": 7}))
    assert find(model, "kvcache.fixed", ctx=5, dtype="bf16") == 2 * 20
    assert find(model, "flops.block.ffn", ctx=5) == 2 * (2 * 20 * 7 + 20 * 20)
