"""A page in a real browser: its figures are the command's, and nothing goes wrong or leaves it."""

from __future__ import annotations

import shlex
from fractions import Fraction
from pathlib import Path
from statistics import median

import pytest

from tests.support.browser import browser, driven
from tests.support.running import run
from txcalc.page.html import page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not browser(), reason="no Chromium is found"),
]
FOUR = ("gpt3", "gpt2-small", "deepseek-v3", "gemma-3-27b-text")

OPENED = """
said.opened = [];
const tabs = document.querySelectorAll("#tabs button");
for (let i = 0; said.opened.length < 50 && i < 500; i++) {
  tabs[rng(tabs.length)].click();
  if (i % 5 === 0) for (const reset of document.querySelectorAll(".reset")) reset.click();
  move();
  const formats = document.querySelectorAll("#panel select"), chosen = formats[rng(3)];
  chosen.selectedIndex = rng(6);
  chosen.dispatchEvent(new Event("change"));
  const rows = document.querySelectorAll("#rows .open");
  rows[rng(rows.length)].click();
  if (document.querySelector(".refused")) continue;
  said.opened.push([text("command"), document.getElementById("result").dataset.exact]);
}
"""


def test_opened_figures_are_those_of_their_commands(tmp_path: Path) -> None:
    said = driven(page(FOUR)[0], OPENED, tmp_path)
    assert said["errors"] == []
    assert len(said["opened"]) == 50
    for command, exact in said["opened"]:
        name, verb, *words = shlex.split(command)
        assert (name, verb) == ("txcalc", "explain")
        ran = run("get", *words, "--exact")
        assert ran.code == 0, (command, ran.err)
        assert Fraction(ran.out) == Fraction(exact), command


def test_moves_end_without_an_error_and_nothing_is_asked_for(tmp_path: Path) -> None:
    act = (
        "said.times = []; for (let i = 0; i < 200; i++) said.times.push(move());"
        "const model = DATA.models[0], inputs = State.inputs(model, State.fresh());"
        "said.passes = [...Array(50)].map(() => { const start = performance.now();"
        " Engine.run(model, inputs); return performance.now() - start; });"
    )
    said = driven(page(["gpt3"])[0], act, tmp_path)
    assert said["errors"] == []
    assert said["requests"] == 0
    passes, moves = median(said["passes"]), median(said["times"])
    print(f"\nmedian of an exact pass {passes:.1f} ms, of a move {moves:.1f} ms")


def test_a_refused_setting_shows_the_message_of_python(tmp_path: Path) -> None:
    act = (
        "said.problem = document.querySelector('.refused').firstChild.textContent;"
        "said.fits = [...document.querySelectorAll('.fit')].map((each) => each.textContent);"
    )
    said = driven(page(["gpt3"])[0], act, tmp_path, "#model=gpt3&n_heads=100")
    ran = run("get", "gpt3", "params.total", "--set", "n_heads=100")
    assert said["errors"] == []
    assert said["problem"] in ran.err
    assert said["fits"] == ["n_heads = 96", "n_heads = 128"]


@pytest.mark.parametrize("width", [390, 1360])
def test_no_text_is_small_and_nothing_is_wider_than_the_page(tmp_path: Path, width: int) -> None:
    act = (
        "said.small = [...document.querySelectorAll('body *')].filter((each) => each.textContent "
        "&& parseFloat(getComputedStyle(each).fontSize) < 11).map((each) => each.outerHTML);"
        "said.wide = document.documentElement.scrollWidth - innerWidth;"
    )
    said = driven(page(FOUR)[0], act, tmp_path, "#model=deepseek-v3&ctx=1000000000000000", width)
    assert said["errors"] == []
    assert said["small"] == []
    assert said["wide"] <= 0


def test_an_encoder_alone_has_no_empty_places(tmp_path: Path) -> None:
    act = (
        "said.empty = [...document.querySelectorAll('.chart')]"
        ".filter((each) => !each.children.length).length;"
    )
    said = driven(page(["roberta-base"])[0], act, tmp_path)
    assert said == {"errors": [], "empty": 0, "requests": 0}
