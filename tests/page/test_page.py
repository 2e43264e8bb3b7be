"""The file of a page: what it holds, how large it is, and that names in it are harmless."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest

from tests.support.running import answer, run
from txcalc.page.html import page

FOUR = ("gpt3", "gpt2-small", "deepseek-v3", "gemma-3-27b-text")


@pytest.mark.parametrize(("names", "most"), [(["gpt3"], 120), (FOUR, 400)])
def test_a_page_is_small(names: list[str], most: int) -> None:
    assert len(page(names)[0].encode()) <= most * 1024


def test_the_policy_allows_the_scripts_and_styles_of_the_page_alone() -> None:
    text = page(["toy"])[0]
    [policy] = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for rule, tag in (("script-src", "script"), ("style-src", "style")):
        [inside] = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(inside.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert not re.search(r"\b(?:src|href)=|@import|url\(|eval\(|innerHTML|https?://", _code(text))


def _code(text: str) -> str:
    """A page without its data, and without the name of SVG's elements."""
    code = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
    return code.replace("http://www.w3.org/2000/svg", "")


def test_the_same_command_writes_the_same_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer("page", "toy", "-o", "a.html") == "a.html\n"
    first = Path("a.html").read_bytes()
    answer("page", "toy", "-o", "a.html")
    assert Path("a.html").read_bytes() == first
    Path("a.html").write_text("notes")
    ran = run("page", "toy", "-o", "a.html")
    assert (ran.code, Path("a.html").read_text()) == (2, "notes")
    assert "no page; it is left as it is" in ran.err


def test_names_are_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "</script><script>alert(1)</script>'\"<!--"
    tree = answer("import", "toy").replace("name: toy", f"name: {json.dumps(name)}")
    Path("odd.yaml").write_text(tree)
    text = page(["odd.yaml"])[0]
    assert "<script>alert" not in text
    assert "<!--" not in text
    [data] = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert json.loads(data)["models"][0]["called"] == name
    [title] = re.findall("<title>(.*?)</title>", text)
    assert unescape(title) == f"{name} - txcalc"


def test_changes_are_those_that_the_page_begins_with() -> None:
    [data] = re.findall(r'id="data">(.*?)</script>', page(["gpt3"], ["n_layers=48"])[0], re.DOTALL)
    model = json.loads(data)["models"][0]
    assert model["changes"] == ["n_layers=48"]
    assert [slider[3] for slider in model["sliders"] if slider[0] == "n_layers"] == ["48"]
