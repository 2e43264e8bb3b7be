"""What stands around sub-layers: positions, several streams, and tensors that no part knows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.counting import Tree
from tests.support.describing import layer
from tests.support.running import find, load

FFN: Tree = {"kind": "plain", "d_ff": 4}
GQA: Tree = {"kind": "gqa", "n_heads": 4, "n_kv_heads": 2, "head_dim": 6}


def stored(**block: Any) -> int:
    return int(find(load(layer(20, **block)), "params.blocks"))


@pytest.mark.parametrize(
    ("d_model", "positions", "count"),
    [
        (768, {"kind": "learned", "n_positions": 1024}, 786_432),  # GPT-2 small
        (512, {"kind": "relative", "n_buckets": 32, "n_heads": 8}, 256),  # a stack of T5 small
        (512, {"kind": "sinusoidal"}, 0),
        (512, {"kind": "rotary"}, 0),
        (512, {"kind": "alibi"}, 0),
    ],
)
def test_tables_of_positions(d_model: int, positions: Tree, count: int) -> None:
    tree = layer(d_model, ffn=FFN)
    tree["layers"]["positions"] = positions
    assert find(load(tree), "params.embedding.positions") == count


@pytest.mark.parametrize(("all_", "narrow"), [(False, 0), (True, 6)])
def test_a_narrow_embedding_is_projected_for_the_tokens_of_every_stack(
    all_: bool, narrow: int
) -> None:
    """Positions are as narrow or not, arXiv:1909.11942 section 3.1, arXiv:2205.01068."""
    tree = layer(20, ffn=FFN)
    tree["blocks"]["encoder"] = {"norm": "none", "ffn": FFN}
    tree["encoder"] = {"count": 1, "pattern": ["encoder"], "token_types": 2}
    plain = load(tree)
    model = load(tree | {"embedding": {"d_embed": 14, "bias": True, "all": all_}})
    more = find(model, "params.embedding") - find(plain, "params.embedding")
    assert more == -6 * 10 - narrow * 2 + 14 * 20 + 20
    asked: dict[str, Any] = {"ctx": 9, "source": 5, "batch": 3}
    project = 2 * 14 * 20
    assert find(model, "flops.embedding", phase="prefill", **asked) == project * 3 * (9 + 5)
    assert find(model, "flops.embedding", phase="decode", **asked) == project * 3


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("roles", [{"ffn": FFN}, {"attention": GQA, "ffn": FFN}])
def test_hyper_connections_around_each_sub_layer(mixed: bool, roles: Tree) -> None:
    """Weights to read and to write every stream (arXiv:2409.19606), a matrix that mixes them
    beside it (arXiv:2512.24880), and a scale for each."""
    n, d = 3, 20
    made, scales = 2 * n + mixed * n * n, 2 + mixed
    hyper = {"kind": "hyper", "n_streams": n, "mixed": mixed}
    assert stored(**roles, residual=hyper) - stored(**roles) == len(roles) * (
        made * n * d + made + scales
    )
    model, plain = load(layer(d, **roles, residual=hyper)), load(layer(d, **roles))
    more = find(model, "flops.blocks", ctx=5) - find(plain, "flops.blocks", ctx=5)
    assert more == len(roles) * 2 * (made * n * d + mixed * n * n * d)


def test_alternating_updates_of_gemma_3n() -> None:
    """Its checkpoint's router and its norm, both coefficients, and the output's scale; a pass runs
    the router twice and predicts every copy from all of them."""
    n, d = 4, 2048
    block: Tree = {"ffn": FFN, "residual": {"kind": "altup", "n_copies": n}}
    with_, without = (load(layer(d, **b)) for b in (block, {"ffn": FFN}))
    assert find(with_, "params.blocks") - find(without, "params.blocks") == 12_368
    more = find(with_, "flops.blocks", ctx=5) - find(without, "flops.blocks", ctx=5)
    assert more == 2 * (2 * n * d + n**3 + n**2 + n * n * d)


@pytest.mark.parametrize(
    ("tensor", "count", "used", "macs"),
    [
        ({"use": "matmul", "dims": [3, 5]}, 15, 15, 15),
        ({"use": "matmul", "dims": [3, 5], "copies": 4}, 60, 60, 60),
        ({"use": "matmul", "dims": [3, 5], "copies": 4, "used": 2}, 60, 30, 30),
        ({"use": "matmul", "dims": [3, 5], "repeats": 7}, 15, 15, 105),
        ({"use": "matmul", "dims": [3, 5], "stream": "none"}, 15, 15, 0),
        ({"use": "matmul", "dims": ["d_model", "vocab"]}, 200, 200, 200),
        ({"use": "lookup", "dims": [3, 5]}, 15, 15, 0),
        ({"use": "elementwise", "dims": [2, 3, 4]}, 24, 24, 0),
        ({"use": "buffer", "dims": [3, 5]}, 0, 0, 0),
    ],
)
def test_a_declared_tensor(tensor: Tree, count: int, used: int, macs: int) -> None:
    model, plain = (load(layer(20, ffn=FFN, **t)) for t in ({"tensors": {"x": tensor}}, {}))
    for address, more in (("params.total", count), ("params.active", used)):
        assert find(model, address) - find(plain, address) == more
    assert find(model, "flops.blocks", ctx=9) - find(plain, "flops.blocks", ctx=9) == 2 * macs
    buffers = 15 if tensor["use"] == "buffer" else 0
    assert find(model, "params.buffers") == buffers


def test_a_tensor_of_each_sequence_is_multiplied_once_a_pass() -> None:
    pooler = {"use": "matmul", "dims": ["d_model", "d_model"], "stream": "sequence"}
    model = load(layer(20, ffn=FFN, tensors={"pooler": pooler}))
    asked = {"ctx": 9, "batch": 3}
    assert find(model, "flops.block.tensors", phase="prefill", **asked) == 3 * 2 * 20 * 20


@pytest.mark.parametrize(("fmt", "size"), [(None, 2), ("fp32", 4)])
def test_a_convolution_declared_as_a_tensor(fmt: str | None, size: int) -> None:
    conv: Tree = {"use": "conv", "dims": ["d_model", 4], "copies": 2}
    conv |= {"fmt": fmt} if fmt else {}
    model, plain = (load(layer(20, ffn=FFN, **t)) for t in ({"tensors": {"conv": conv}}, {}))
    assert find(model, "params.total") - find(plain, "params.total") == 2 * 20 * 4
    more = [find(m, "flops.blocks", ctx=9) for m in (model, plain)]
    assert more[0] - more[1] == 2 * 2 * 20 * 4
    assert find(model, "kvcache.fixed", dtype="bf16") == size * 2 * 20 * 4
