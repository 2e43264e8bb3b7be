"""Every bundled model whose kinds run is proved, as ``txcalc prove`` proves it."""

from __future__ import annotations

import pytest

from tests.support.running import BUNDLED
from txcalc.errors import RefusedError
from txcalc.reference.proof import Proof
from txcalc.reference.prove import prove
from txcalc.sources.loading import read

WITHOUT = {
    "deepseek-v3.2": "kind 'mla' with indexer",
    "glm-5": "kind 'mla' with indexer",
    "deepseek-v4-flash": "kind 'compressed'",
}
"""Models with a kind that does not run, and what is said of it."""
RUN = [name for name in BUNDLED if name not in WITHOUT]


def proved(name: str) -> Proof:
    tree, file, _ = read(name)
    return prove(tree, file)


@pytest.mark.parametrize("name", RUN)
def test_a_model_is_proved(name: str) -> None:
    proof = proved(name)
    assert not proof.failed
    about = {equality.about.partition(",")[0] for equality in proof.equalities}
    addresses = {equality.address for equality in proof.equalities}
    assert {"params.total", "flops.total", "prefill"} <= addresses | about
    if "decode" in about:
        assert {"cache", "generation"} <= about
        assert {"kvcache.sequence", "kvcache.growth", "generation.flops.cached"} <= addresses


@pytest.mark.parametrize("name", WITHOUT)
def test_a_kind_that_does_not_run_is_named(name: str) -> None:
    with pytest.raises(RefusedError, match=WITHOUT[name]):
        proved(name)


def test_most_of_the_bundled_models_run() -> None:
    assert len(RUN) >= 90


def test_what_only_some_models_have_is_proved_of_them() -> None:
    """The three forms of latent attention give one output; experts are reached as estimated."""
    proof = proved("deepseek-v2-lite")
    about = {equality.about for equality in proof.equalities}
    assert {"decode, absorbed", "decode, expanded", "decode, reexpand", "prefill, absorbed"} < about
    assert "experts, 5 tokens" in about
    encoder = proved("bert-base-uncased")
    assert not any(e.about.startswith(("decode", "cache")) for e in encoder.equalities)
