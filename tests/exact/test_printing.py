"""Every printed formula, read again by another reader, is worth the figure it explains."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.exact.derivations import (
    check_print,
    letter_values,
    letters,
    made,
    named_values,
    recipes,
)
from tests.support.counting import Tree
from tests.support.describing import descriptions
from tests.support.reckoning import FormulaError, reckon
from tests.support.running import ACCOUNTS, MODELS, OTHERS, load, named, report
from txcalc.errors import RefusedError
from txcalc.exact.counting import distinct, series, tally
from txcalc.exact.printing import Printer, substituted, symbolic
from txcalc.exact.quantity import (
    ONE,
    TWO,
    Letter,
    Quantity,
    ceil_div,
    const,
    defined,
    least,
    most,
    product,
    walk,
)
from txcalc.model.model import Model

D, H, N = Letter(768, "d_model"), Letter(12, "n_heads"), Letter(5, "n")


@pytest.mark.parametrize(
    ("quantity", "formula", "numbers"),
    [
        (product(const(4), D, H, const(64)), "256·d_model·n_heads", "256·768·12"),
        (D + H + D, "2·d_model + n_heads", "2·768 + 12"),
        (D - H - D, "-n_heads", "-12"),
        (D - D, "0", "0"),
        (product(D + H, D), "(d_model + n_heads)·d_model", "(768 + 12)·768"),
        (product(D, D) / product(TWO, H), "d_model^2/(2·n_heads)", "768^2/(2·12)"),
        (product(D, H) / D, "n_heads", "12"),
        (D // H, "floor(d_model/n_heads)", "floor(768/12)"),
        (ceil_div(D + ONE, H), "ceil((d_model + 1)/n_heads)", "ceil((768 + 1)/12)"),
        (least(D, product(TWO, H)), "min(d_model, 2·n_heads)", "min(768, 2·12)"),
        (most(D, H) + most(D, H), "2·max(d_model, n_heads)", "2·max(768, 12)"),
        (series(const(0), None, ONE, D), "sum(t, t=1..d_model)", "sum(t, t=1..768)"),
        (series(ONE, H, ONE, D), "sum(t·min(t, n_heads), t=1..d_model)",
         "sum(t·min(t, 12), t=1..768)"),
        (tally(D, (True, False)), "tally(d_model, 10)", "tally(768, 10)"),
        (distinct(H, TWO, N), "(n_heads·(1 - (1 - 2/n_heads)^(n)))", "(12·(1 - (1 - 2/12)^(5)))"),
        (distinct(product(TWO, H), TWO, N), "((2·n_heads)·(1 - (1 - 2/(2·n_heads))^(n)))",
         "((2·12)·(1 - (1 - 2/(2·12))^(5)))"),
        (product(D, defined("rest", const(-1))), "d_model·rest", "768·(-1)"),
    ],
)  # fmt: skip
def test_like_terms_are_collected_and_sums_never_distributed(
    quantity: Quantity, formula: str, numbers: str
) -> None:
    assert (symbolic(quantity), substituted(quantity)) == (formula, numbers)


@given(recipes(3), letter_values)
def test_every_formula_is_worth_its_quantity(recipe: Any, values: tuple[int, ...]) -> None:
    check_print(made(recipe, letters(values)))


@given(recipes(), recipes(), letter_values)
def test_a_quantity_stands_in_a_formula_under_the_name_it_is_called(
    above: Any, other: Any, values: tuple[int, ...]
) -> None:
    chosen = letters(values)
    figure = made(above, chosen) + Letter(1, "one")
    whole = product(figure, made(other, chosen)) + figure
    text = Printer(whole, {id(figure): "figure"}).write(whole)[0]
    assert reckon(text, named_values(whole) | {"figure": Fraction(figure.value)}) == whole.value


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
            check_print(quantity, address)
            checked += 1
            for node in walk(quantity):
                if isinstance(node, Letter) and node.definition is not None:
                    defined[id(node)] = node
    for letter in defined.values():
        assert letter.definition is not None
        assert letter.definition.value == letter.value
        check_print(letter.definition, letter.name)
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
