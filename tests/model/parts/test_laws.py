"""Each kind of part alone in a layer: the second count, and the laws between phases."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.counting import BYTES, Counted, Run, Tree
from tests.support.describing import beside_encoder, layer
from tests.support.describing.parts import ATTENTIONS, CROSS, FFNS, SSMS, Place, softmax
from tests.support.running import find, load, report
from txcalc.model.model import Model

D_MODEL = 6
PERIOD = 12
PHASES = ("token", "prefill", "decode", "train")
SCORES = ("full", "causal", "square", "none")
FORMS = ("expanded", "absorbed", "reexpand")
KINDS = {
    **{kind: ("attention", make(Place(D_MODEL))) for kind, make in ATTENTIONS.items()},
    **{kind: ("ssm", strategy) for kind, strategy in SSMS.items()},
    **{kind: ("ffn", strategy) for kind, strategy in FFNS.items()},
}
tokens = st.integers(1, 20)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), ctx=tokens, batch=st.integers(1, 3))
def test_every_sum_equals_a_plain_count(
    kind: str, data: st.DataObject, ctx: int, batch: int
) -> None:
    role, strategy = KINDS[kind]
    tree = layer(D_MODEL, **{role: data.draw(strategy)})
    phase, form = data.draw(st.sampled_from(PHASES)), data.draw(st.sampled_from(FORMS))
    scores = data.draw(st.sampled_from(SCORES))
    agree(tree, Run(phase, ctx, 1, batch, scores, form=form))


def agree(tree: Tree, run: Run) -> None:
    """Parameters, operations and state, counted twice."""
    model, counted = load(tree), Counted(tree)
    asked: dict[str, Any] = {"source": run.source} if "encoder" in tree else {}
    asked |= {"phase": run.phase, "scores": run.scores, "mla": run.form}
    expected = {
        "params": counted.parameters(),
        "flops": counted.work(run),
        "kvcache": counted.cache(run.ctx, run.source, BYTES["int8"]),
    }
    for account, sums in expected.items():
        figures = report(account, model, ctx=run.ctx, batch=run.batch, kv="int8", **asked).figures
        assert {address: figures[address].value for address in sums} == sums


@settings(max_examples=4 * settings().max_examples)
@given(data=st.data(), ctx=tokens, source=tokens, scores=st.sampled_from(SCORES[:2]))
def test_an_encoder_and_what_attends_to_it(
    data: st.DataObject, ctx: int, source: int, scores: str
) -> None:
    width = data.draw(st.sampled_from((D_MODEL, D_MODEL, 4)))
    kind = data.draw(st.sampled_from(CROSS))
    if data.draw(st.booleans()):
        part = {"cross_attention": softmax(kind, Place(D_MODEL), cross=True)}
    else:
        part = {"attention": softmax(kind, Place(D_MODEL, merged=width == D_MODEL))}
    decoder = layer(D_MODEL, **{role: data.draw(strategy) for role, strategy in part.items()})
    windowed = data.draw(softmax(kind, Place(width, decoder=False)))
    tree = beside_encoder(decoder, width, attention=windowed)
    agree(tree, Run(data.draw(st.sampled_from(("prefill", "decode"))), ctx, source, 2, scores))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), ctx=tokens)
def test_the_laws_between_its_passes(kind: str, data: st.DataObject, ctx: int) -> None:
    role, strategy = KINDS[kind]
    model = load(layer(D_MODEL, **{role: data.draw(strategy)}))
    form = data.draw(st.sampled_from(FORMS[:2]))
    causal_prefill_is_the_sum_of_its_steps(model, ctx, form)
    growth_over_a_block_is_the_difference_of_two_sequences(model, ctx)
    generation_is_the_sum_of_its_passes(model, ctx, new=data.draw(st.integers(1, 9)))


def causal_prefill_is_the_sum_of_its_steps(model: Model, ctx: int, form: str) -> None:
    asked: dict[str, Any] = {"scores": "causal", "mla": form}
    steps = [find(model, "flops.total", phase="decode", ctx=t + 1, **asked) for t in range(ctx)]
    assert find(model, "flops.total", phase="prefill", ctx=ctx, **asked) == sum(steps)


def growth_over_a_block_is_the_difference_of_two_sequences(model: Model, ctx: int) -> None:
    growth = [find(model, "kvcache.growth", ctx=ctx + t) for t in range(PERIOD)]
    now, then = (find(model, "kvcache.sequence", ctx=t) for t in (ctx, ctx + PERIOD))
    assert sum(growth) == then - now


def generation_is_the_sum_of_its_passes(model: Model, prompt: int, new: int) -> None:
    asked: dict[str, Any] = {"prompt": prompt, "new": new, "mla": "expanded"}
    figures = report("generation", model, **asked).figures
    for way, phase in (("naive", "prefill"), ("cached", "decode")):
        passes = (
            find(model, "flops.blocks", phase=phase, ctx=prompt + step, mla="expanded")
            for step in range(new)
        )
        assert figures[f"generation.flops.{way}"].value == sum(passes)
