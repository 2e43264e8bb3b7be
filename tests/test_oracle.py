"""What public implementations hold, compute and keep, measured by instantiating them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
import yaml

from tests.support.running import ORACLE, data, get

Fact = dict[str, Any]
FACTS: dict[str, Fact] = {
    path.stem: yaml.safe_load(path.read_text("utf-8"))
    for path in sorted(ORACLE.glob("*.yaml"))
    if path.stem != "refused"
}
Shapes = Counter[tuple[int, ...]]

facts = pytest.mark.parametrize("fact", FACTS.values(), ids=FACTS)
PREFILLS = [
    pytest.param(fact, run, id=f"{name}-B{run['batch']}-T{run['tokens']}")
    for name, fact in FACTS.items()
    for run in fact.get("prefill", ())
]


def having(key: str) -> Any:
    """The facts that were measured."""
    return pytest.mark.parametrize(
        "fact", [pytest.param(f, id=name) for name, f in FACTS.items() if key in f]
    )


def held(fact: Fact) -> Shapes:
    """How many tensors there are of each shape, sides in either order, fused ones split."""
    shapes: Shapes = Counter()
    for name, (shape, count) in fact["tensors"].items():
        ways = next((n for part, n in fact.get("fused", {}).items() if part in name), 1)
        *others, last = shape
        shapes[tuple(sorted([*others, last // ways]))] += ways * count
    return shapes


@facts
def test_parameters(fact: Fact) -> None:
    assert get(fact["model"], "params.total") == fact["parameters"]


@facts
def test_persistent_buffers(fact: Fact) -> None:
    assert get(fact["model"], "params.buffers") == fact["buffers"]


@facts
def test_every_tensor_by_shape(fact: Fact) -> None:
    (report,) = data("params", fact["model"], "--tensors")
    ours: Shapes = Counter()
    for row in report["rows"]:
        if row["value"]:
            ours[tuple(sorted(row["dims"]))] += row["copies"]
    assert ours == held(fact)


@pytest.mark.parametrize(("fact", "run"), PREFILLS)
def test_prefill_flops(fact: Fact, run: Fact) -> None:
    options = ("--phase", "prefill", "--scores", "square", "--batch", run["batch"],
               "--ctx", run["tokens"])  # fmt: skip
    model = fact["model"]
    assert get(model, "flops.total", *options) == run["total"]
    assert get(model, "flops.head", *options) == run["head"]
    without = ("--phase", "prefill", "--scores", "none", *options[4:])
    assert get(model, "flops.total", *without) == run["total"] - run["scores"]


@having("decode")
def test_decode_flops(fact: Fact) -> None:
    """One token after those cached; in an encoder-decoder, as many are cached of the source."""
    step, model = fact["decode"], fact["model"]
    options = ["--phase", "decode", "--ctx", step["cached"] + 1]
    if model == "bart-base":
        options += ["--source", step["cached"]]
    assert get(model, "flops.total", *options, "--scores", "square") == step["total"]
    assert get(model, "flops.head", *options) == step["head"]
    without = get(model, "flops.total", *options, "--scores", "none")
    assert without == step["total"] - step["scores"]


@having("cache")
def test_cache_bytes(fact: Fact) -> None:
    cache, model = fact["cache"], fact["model"]
    options = ("--ctx", cache["tokens"], "--dtype", cache["format"])
    assert get(model, "kvcache.sequence", *options) == cache["total"]
    assert get(model, "kvcache.cross", *options) == cache["cross"]
    own = get(model, "kvcache.token", *options) * Fraction(cache["tokens"])
    assert own == cache["total"] - cache["cross"]
