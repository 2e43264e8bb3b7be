"""Every printed formula, read again by another reader, is worth the figure it explains."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import cycle
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.counting import Tree
from tests.support.describing import descriptions
from tests.support.reckoning import FormulaError, estimate, reckon
from tests.support.running import ACCOUNTS, MODELS, OTHERS, load, named, report
from txcalc.errors import RefusedError
from txcalc.exact.printing import Printer, substituted, symbolic
from txcalc.exact.quantity import Letter, Quantity, is_estimate, walk
from txcalc.model.model import Model

CLOSE = Fraction(1, 10**36)


def letters(quantity: Quantity) -> dict[str, Fraction]:
    """What each name in a formula is worth; a name that means several values has none."""
    found = [node for node in walk(quantity) if isinstance(node, Letter)]
    names = Printer(quantity).names
    values = _by_name((names[id(letter)], letter) for letter in found)
    return {name: next(iter(v)) for name, v in values.items() if len(v) == 1}


def _by_name(named: Iterable[tuple[str, Letter]]) -> dict[str, set[Fraction]]:
    values: dict[str, set[Fraction]] = {}
    for name, letter in named:
        values.setdefault(name, set()).add(Fraction(letter.value))
    return values


def check(quantity: Quantity, address: str) -> None:
    """Both readings of a quantity, and the definitions of the letters in it."""
    names = letters(quantity)
    for text, known in ((substituted(quantity), None), (symbolic(quantity), names)):
        if is_estimate(quantity):
            off = abs(estimate(text, known) - quantity.value)
            assert off <= abs(quantity.value) * CLOSE, f"{address}: {text}"
        else:
            assert reckon(text, known) == quantity.value, f"{address}: {text}"


def check_all(model: Model, **question: Any) -> int:
    """Every figure of every account, and every letter that is defined by others."""
    checked = 0
    defined: dict[int, Letter] = {}
    for account in ACCOUNTS:
        try:
            answer = report(account, model, **question)
        except RefusedError:
            continue
        for address, quantity in answer.figures.items():
            check(quantity, address)
            checked += 1
            for node in walk(quantity):
                if isinstance(node, Letter) and node.definition is not None:
                    defined[id(node)] = node
    for letter in defined.values():
        assert letter.definition is not None
        assert letter.definition.value == letter.value
        check(letter.definition, letter.name)
    return checked


ASKED = dict.fromkeys([*MODELS, *OTHERS, "deepseek-v4-flash"])
"""The first release's models, some of the others, and the one with most kinds of parts."""


@pytest.mark.parametrize(
    ("name", "scores"), list(zip(ASKED, cycle(("full", "causal")), strict=False))
)
def test_every_figure_of_a_bundled_model(name: str, scores: str) -> None:
    model = named(name)
    phase = "token" if model.has_decoder else "prefill"
    assert check_all(model, phase=phase, scores=scores, ctx=300) > 60


@given(
    descriptions(), st.integers(1, 30), st.sampled_from(("token", "prefill", "decode", "train")),
    st.sampled_from(("full", "causal", "square", "none")), st.integers(1, 3),
)  # fmt: skip
def test_every_figure_of_a_generated_model(
    tree: Tree, ctx: int, phase: str, scores: str, batch: int
) -> None:
    model = load(tree)
    assume(model.has_decoder or phase in ("prefill", "train"))
    assert check_all(
        model, ctx=ctx, prompt=ctx, phase=phase, scores=scores, batch=batch, new=5, kv="int4",
    ) > 20  # fmt: skip


MHA: Tree = {"kind": "mha", "n_heads": 2, "head_dim": 3}
COLLIDING: dict[str, Tree] = {
    "self-and-cross-attention": {
        "blocks": {
            "reader": {"norm": "rms", "attention": MHA},
            "writer": {"norm": "rms", "attention": MHA, "cross_attention": {**MHA, "n_heads": 5}},
        },
        "encoder": {"count": 3, "pattern": ["reader"]},
        "layers": {"count": 4, "pattern": ["writer"]},
    },
    "a-window-shared-by-both-stacks": {
        "parts": {"own": {**MHA, "window": 3}},
        "blocks": {name: {"norm": "rms", "attention": "own"} for name in ("reader", "writer")},
        "encoder": {"count": 3, "pattern": ["reader"]},
        "layers": {"count": 4, "pattern": ["writer"]},
    },
    "a-block-named-like-its-stack": {
        "blocks": {
            "encoder": {"norm": "rms", "attention": MHA},
            "heads": {"norm": "rms", "attention": {**MHA, "n_heads": 7}},
        },
        "encoder": {
            "count": 9,
            "pattern": ["encoder", "heads"],
            "positions": {"kind": "relative", "n_buckets": 8, "n_heads": 5},
        },
    },
    "a-block-named-like-a-part": {
        "parts": {"one": MHA},
        "blocks": {
            "one": {"norm": "rms", "attention": {**MHA, "n_heads": 7}},
            "two": {"norm": "rms", "attention": "one"},
        },
        "layers": {"count": 5, "pattern": ["one", "two"]},
    },
}


@pytest.mark.parametrize("case", COLLIDING)
def test_no_name_in_a_formula_means_two_numbers(case: str) -> None:
    described = {"name": case, "source": "made up", "d_model": 6, "vocab": 11, **COLLIDING[case]}
    model = load(described)
    for scores in ("full", "causal"):
        assert check_all(model, phase="prefill", scores=scores, ctx=7, prompt=5) > 20


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("4·d_model·n_heads·head_dim", 4 * 768 * 12 * 64),
        ("2·d_model + 3", 1539),
        ("-3 + d_model^2/(2·n_heads)", Fraction(768**2, 24) - 3),
        ("floor(d_model/7) - ceil(d_model/7)", -1),
        ("min(d_model, 3·4)·max(n_heads, 13)", 156),
        ("sum(t, t=3..5)", 12),
        ("sum(t·min(t, 4), t=1..n_heads - 7)", 1 + 4 + 9 + 16 + 20),
        ("sum(t, t=6..5)", 0),
        ("tally(11, 001)", 3),
        ("tally(n_heads, 01)·x-1.d_ff", 30),
        ("(8·(1 - (1 - 2/8)^(3)))", Fraction(37, 8)),
    ],
)
def test_the_second_reader_reads(formula: str, value: Fraction) -> None:
    names = {"d_model": 768, "n_heads": 12, "head_dim": 64, "x-1.d_ff": 5}
    assert reckon(formula, {n: Fraction(v) for n, v in names.items()}) == value


@pytest.mark.parametrize("formula", ["", "2·", "2 3", "d_model", "open(1)", "1)", "(1", "2**3"])
def test_the_second_reader_refuses(formula: str) -> None:
    with pytest.raises(FormulaError):
        reckon(formula)
