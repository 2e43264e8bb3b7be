"""What the documents that txcalc grew from say of a run, run.

Their ids are those of the figures in ``tests/data/seeds.yaml``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.describing import layer
from tests.support.running import find, load, named
from txcalc.errors import OptionError, RefusedError
from txcalc.model.model import Model
from txcalc.reference import Cache, Counter, Generation, How, Network, probabilities
from txcalc.reference.block import run_block
from txcalc.reference.cache import State
from txcalc.reference.counter import Array
from txcalc.reference.kinds import run
from txcalc.reference.kinds.base import relu
from txcalc.reference.positions import Places
from txcalc.reference.site import Site
from txcalc.sources.loading import read

W1 = np.array([[1.0, 0, -1], [0, 2, 1]])
W2 = np.array([[1.0, 0], [0, 1], [-1, 1]])
IDS = np.arange(1, 13)[None]
LOGITS = (4.0, 2.9, 1.5, 0.2, 0.0)
"""The first is stated; the others are ours, such that what is said of all five holds."""


def toy(**attention: Any) -> Network:
    """The toy with fields of its attention changed."""
    tree, _, _ = read("toy")
    tree["blocks"]["decoder"]["attention"] |= attention
    return Network(load(tree))


def worked() -> tuple[Model, Site]:
    """An FFN of d_model 2 and d_ff 3 with the weights of the example, and no norm."""
    model = load(layer(d_model=2, ffn={"kind": "plain", "d_ff": 3}))
    site = Site(
        component="block.decoder", tensors={"ffn.up": W1, "ffn.down": W2}, counter=Counter(),
        how=How(), places=Places(None, 0, 1), state=State(),
    )  # fmt: skip
    return model, site


@pytest.mark.parametrize(
    ("x", "z", "h", "y", "summed"),
    [
        pytest.param([1, 2], [1, 4, 1], [1, 4, 1], [0, 5], [1, 7], id="wf"),
        pytest.param([2, -1], [2, -2, -3], [2, 0, 0], [2, 0], [4, -1], id="wf2"),
    ],
)
def test_the_worked_ffn(
    x: list[float], z: list[float], h: list[float], y: list[float], summed: list[float]
) -> None:
    model, site = worked()
    block, stream = model.blocks["decoder"], np.array([[x]], dtype=float)
    assert block.ffn is not None
    ffn = site.at("ffn")
    assert ffn.linear("up", stream, 3).ravel().tolist() == z
    assert relu(ffn.linear("up", stream, 3)).ravel().tolist() == h
    assert run(block.ffn, stream, ffn).ravel().tolist() == y
    assert run_block(block, stream, IDS, site).ravel().tolist() == summed


@pytest.mark.parametrize(
    ("row", "shape"),
    [
        pytest.param("attention.q", (2, 4, 4, 16), id="toy-qkv-shape"),
        pytest.param("attention.k", (2, 4, 4, 16), id="toy-qkv-shape-k"),
        pytest.param("attention.v", (2, 4, 4, 16), id="toy-qkv-shape-v"),
        pytest.param("attention.scores", (2, 4, 4, 4), id="toy-scores-shape"),
        pytest.param("attention.o", (2, 4, 64), id="toy-merged-shape"),
        pytest.param("ffn.up", (2, 4, 256), id="toy-hidden-shape"),
        pytest.param("ffn.down", (2, 4, 64), id="toy-residual-shape"),
    ],
)
def test_a_shape_of_the_toy_as_it_is_run(row: str, shape: tuple[int, ...]) -> None:
    counter = Counter()
    toy().run(IDS[:, :8].reshape(2, 4), how=How(scores="square"), counter=counter)
    assert counter.shapes[f"block.decoder.{row}"][0] == shape


@pytest.mark.parametrize(
    ("new", "ratio"),
    [pytest.param(1, 5.0, id="toy-naive-first"), pytest.param(12, 10.5, id="toy-naive-12")],
)
def test_naive_over_cached_as_it_is_run(new: int, ratio: float) -> None:
    """Four layers of d_model 64, a prompt of 5 tokens."""
    ways = Generation(toy(), IDS[:, :5])
    naive, cached = ways.naive(new), ways.cached(new)
    assert naive.processed / cached.processed == ratio
    assert naive.made == cached.made


def stepwise(network: Network, cache: Cache, **how: Any) -> list[Array]:
    """Logits of each token, run one after another."""
    return [network.run(IDS[:, i : i + 1], cache=cache, **how)[0, 0] for i in range(IDS.shape[1])]


def right(network: Network, logits: list[Array]) -> list[bool]:
    """Whether each token's logits are those of the whole pass."""
    whole = network.run(IDS)[0]
    return [bool(np.abs(a - b).max() < 1e-9) for a, b in zip(logits, whole, strict=True)]


def test_toy_ring_an_unguarded_one_goes_wrong_at_the_9th_token() -> None:
    network = toy()
    logits = stepwise(network, Cache(slots=8, guarded=False))
    assert right(network, logits) == [True] * 8 + [False] * 4


def test_toy_ring_a_guarded_one_refuses() -> None:
    network, cache = toy(), Cache(slots=8)
    why = "a ring of 8 slots would overwrite keys that a query still attends to"
    with pytest.raises(RefusedError, match=why):
        stepwise(network, cache)
    assert cache.length == 8


@pytest.mark.parametrize(("window", "does"), [(8, True), (5, True), (9, False)])
def test_toy_ring_is_right_where_a_window_is_no_longer(window: int, does: bool) -> None:
    network = toy(window=window)
    if not does:
        with pytest.raises(RefusedError, match="a ring of 8 slots"):
            stepwise(network, Cache(slots=8))
        return
    assert all(right(network, stepwise(network, Cache(slots=8))))


def test_position_0_for_every_token_changes_the_output_and_a_guard_catches_it() -> None:
    network = toy()
    logits = stepwise(network, Cache(guarded=False), first=0)
    assert right(network, logits) == [True] + [False] * 11
    with pytest.raises(RefusedError, match="position 0 after a cache of 1 tokens: 1 is next"):
        stepwise(network, Cache(), first=0)


def test_s_t1_the_best_candidate_at_temperature_1() -> None:
    assert round(float(probabilities(LOGITS)[0]), 3) == 0.687


def test_s_top_k_1_keeps_one() -> None:
    assert probabilities(LOGITS, top_k=1).tolist() == [1, 0, 0, 0, 0]


def test_s_top_p_keeps_two_that_have_a_little_over_90_percent() -> None:
    assert np.count_nonzero(probabilities(LOGITS, top_p=0.9)) == 2
    assert round(float(probabilities(LOGITS)[:2].sum()), 3) == 0.916
    assert np.count_nonzero(probabilities(LOGITS, top_p=0.5)) == 1
    assert np.count_nonzero(probabilities(LOGITS, top_p=1)) == 5


def test_a_low_temperature_tends_to_the_best_candidate_and_a_high_one_to_all_alike() -> None:
    shares = [float(probabilities(LOGITS, t)[0]) for t in (0, 0.1, 0.5, 1, 2, 1e9)]
    assert shares == sorted(shares, reverse=True)
    assert (shares[0], round(shares[1], 3), round(shares[-1], 3)) == (1, 1, 0.2)


def test_sampling_applies_temperature_then_k_then_p() -> None:
    """At temperature 2 the best has 0.47 of all five candidates, and 0.63 of the best two."""
    assert np.count_nonzero(probabilities(LOGITS, 2, top_k=2, top_p=0.6)) == 1
    assert np.count_nonzero(probabilities(LOGITS, 2, top_p=0.6)) == 2


def test_of_equal_candidates_the_first_is_taken() -> None:
    assert probabilities([1, 3, 3], 0).tolist() == [0, 1, 0]
    assert probabilities([1, 3, 3], top_k=1).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("logits", "settings", "said"),
    [
        ([1, float("nan")], {}, "no numbers"),
        ([], {}, "one for each candidate"),
        ([float("inf"), 1], {}, "no numbers"),
        (LOGITS, {"top_k": 0}, "top_k 0"),
        (LOGITS, {"top_p": 0}, "top_p 0"),
        (LOGITS, {"top_p": 1.5}, "top_p 1.5"),
        (LOGITS, {"top_p": float("nan")}, "top_p nan"),
        (LOGITS, {"temperature": -1}, "temperature -1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(
    logits: list[float], settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(OptionError, match=said):
        probabilities(logits, **settings)


def test_the_residual_path_of_12_blocks_has_no_norm_pre_and_24_post(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The article counts a norm once a block; it stands once a sub-layer, of which a block has two.

    Sub-layers whose last matrix is 0 add nothing: what is left is the path, and of the norms
    those that take the stream in and give it out.
    """
    passed: list[str] = []
    norm = Site.norm

    def noted(self: Site, name: str, x: Array, *how: Any, **more: Any) -> Array:
        passed.extend([name] * (self.role == "norms"))
        return norm(self, name, x, *how, **more)

    monkeypatch.setattr(Site, "norm", noted)
    for placement, norms in (("pre", 0), ("post", 24)):
        passed.clear()
        tree, _, _ = read("gpt2-small")
        tree |= {"d_model": 12, "vocab": 10}
        tree["blocks"]["decoder"]["ffn"]["d_ff"] = 4
        tree["blocks"]["decoder"]["placement"] = placement
        tree["layers"]["final_norm"] = "none"
        network = Network(load(tree))
        for tensors in network.weights.layers.values():
            for name in ("attention.o", "attention.o_bias", "ffn.down", "ffn.down_bias"):
                tensors[name][...] = 0
        logits = network.run(IDS[:, :4] % 10)
        assert len(passed) == 24
        assert sum(name.startswith("after") for name in passed) == norms
        embedded = network.weights.beside
        stream = embedded["embedding.tokens"][IDS[0, :4] % 10]
        stream = stream + embedded["embedding.positions"][:4]
        unchanged = np.abs(logits[0] - stream @ embedded["embedding.tokens"].T).max() < 1e-9
        assert unchanged == (placement == "pre")


@pytest.mark.parametrize(("tokens", "ratio"), [(64, 1 / 32), (512, 1 / 4), (2048, 1), (8192, 4)])
def test_tb_regimes_scores_over_ffn(tokens: int, ratio: float) -> None:
    """For S well under d_model 512 the FFN dominates, well over it the score products do."""
    model = named("transformer-base")
    asked = {"phase": "prefill", "scores": "square", "ctx": tokens}
    scores, ffn = (
        find(model, f"flops.block.encoder.{row}", source=tokens, **asked)
        for row in ("scores", "ffn")
    )
    assert scores / ffn == ratio


def test_tb_regimes_as_they_are_run() -> None:
    """One layer at the shortest length."""
    tree = layer(
        d_model=512, attention={"kind": "mha", "n_heads": 8}, ffn={"kind": "plain", "d_ff": 2048}
    )
    counter, ids = Counter(), np.zeros((1, 64), dtype=np.int64)
    Network(load(tree)).run(ids, how=How(scores="square"), counter=counter)
    done = {name.removeprefix("block.decoder."): n for name, n in counter.products.items()}
    assert 32 * done["attention.scores"] == done["ffn.up"] + done["ffn.down"]
