"""Generation: totals equal the loop over its steps."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.counting import Counted, Run, Tree
from tests.support.describing import descriptions, each_token
from tests.support.running import load, report
from txcalc.errors import RefusedError

tokens = st.integers(1, 20)
Number = int | Fraction
FORM = {"mla": "expanded"}


@given(descriptions("decoder", "both"), tokens, tokens, tokens)
def test_totals_equal_the_loop_over_steps(tree: Tree, prompt: int, new: int, source: int) -> None:
    tree = each_token(tree)
    counted, model = Counted(tree), load(tree)
    assume(_works(tree))
    asked = {"source": source} if "encoder" in tree else {}
    answer = report("generation", model, prompt=prompt, new=new, **FORM, **asked)
    figures = {address: quantity.value for address, quantity in answer.figures.items()}
    lengths = [prompt + step for step in range(new)]
    naive = sum(_whole(counted, length, source) for length in lengths)
    steps = [_step(counted, length, source) for length in lengths]
    prefilled = _whole(counted, prompt, source) + sum(steps[1:])
    assert figures["generation.tokens.naive"] == sum(lengths)
    assert figures["generation.tokens.cached"] == new
    assert figures["generation.with_prefill.tokens.cached"] == prompt + new - 1
    assert figures["generation.flops.naive"] == naive
    assert figures["generation.flops.cached"] == sum(steps)
    assert figures["generation.with_prefill.flops.naive"] == naive
    assert figures["generation.with_prefill.flops.cached"] == prefilled


@given(descriptions("decoder", "both"), tokens, st.integers(1, 40))
def test_running_totals_are_the_totals_of_fewer_tokens(tree: Tree, prompt: int, new: int) -> None:
    model = load(tree)
    assume(_works(tree))
    figures = report("generation", model, prompt=prompt, new=new, **FORM).figures
    afters = {int(a.split(".")[2]) for a in figures if a.startswith("generation.after.")}
    assert 1 in afters
    assert max(afters) <= new
    for after in afters:
        fewer = report("generation", model, prompt=prompt, new=after, **FORM).figures
        for what in ("tokens", "flops"):
            for way in ("naive", "cached", "ratio"):
                running = figures[f"generation.after.{after}.{what}.{way}"].value
                assert running == fewer[f"generation.{what}.{way}"].value


@given(descriptions("decoder", "both"), tokens, tokens)
def test_ratios_are_naive_over_cached(tree: Tree, prompt: int, new: int) -> None:
    assume(_works(tree))
    figures = report("generation", load(tree), prompt=prompt, new=new, **FORM).figures
    ratios = [address.rpartition(".")[0] for address in figures if address.endswith(".ratio")]
    assert len(ratios) >= 6
    for at in ratios:
        naive, cached, ratio = (
            figures[f"{at}.{way}"].value for way in ("naive", "cached", "ratio")
        )
        assert ratio * cached == naive
        assert naive >= cached


def _whole(counted: Counted, length: int, source: int) -> Number:
    """The decoder's blocks over a whole text, without what the encoder's tokens cost."""
    run = Run("prefill", length, source, form="expanded", source_done=True)
    return counted.blocks_work(run, "decoder")


def _step(counted: Counted, length: int, source: int) -> Number:
    return counted.blocks_work(Run("decode", length, source, form="expanded"), "decoder")


def _works(tree: Tree) -> bool:
    return _step(Counted(each_token(tree)), 1, 1) > 0


@given(descriptions("encoder"))
def test_an_encoder_alone_generates_nothing(tree: Tree) -> None:
    with pytest.raises(RefusedError, match="generated: no generation: an encoder-only model"):
        report("generation", load(tree))
