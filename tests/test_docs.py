"""README.md and docs/*.md say what txcalc does: examples, tables, links, fields and numbers."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import txcalc
from tests.support.checkpoints import LLAMA, llama_header, written
from tests.support.running import run
from txcalc.exact.quantity import LARGEST
from txcalc.sources import yaml
from txcalc.workload.question import PROMPT, Question

ROOT = Path(__file__).resolve().parent.parent

sys.path.insert(0, str(ROOT / "scripts"))
docs, examples, links = map(importlib.import_module, ("refresh_docs", "examples", "links"))

TEXTS: dict[Path, str] = {page: page.read_text("utf-8") for page in docs.PAGES}
README, MODELS, GUIDE = (
    TEXTS[ROOT / name] for name in ("README.md", "docs/models.md", "docs/guide.md")
)
SETUP = [line for line in README.splitlines() if line.startswith("python3 -m venv ")]
EXAMPLES = [(page, each) for page, text in TEXTS.items() for each in examples.examples(text)]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _prose(text: str) -> str:
    """A page without its blocks of code and the tables between marks."""
    written = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^<!-- (\w+) -->.*?^<!-- end of \1", "", written, flags=re.MULTILINE | re.DOTALL)


PROSE = {page: _prose(text) for page, text in TEXTS.items()}
COMMANDS = [
    (page, command)
    for page, text in PROSE.items()
    for command in re.findall(r"`(txcalc [^`]+)`", text)
    if not re.search(r"\b[A-Z]{4,}\b|--install-completion", command)
]


@pytest.mark.parametrize(
    ("page", "example"),
    EXAMPLES,
    ids=[f"{_name(page)}:{example.line}" for page, example in EXAMPLES],
)
def test_an_example_prints_what_the_page_shows(page: Path, example: Any, tmp_path: Path) -> None:
    examples.write_files(TEXTS[page], tmp_path)
    assert examples.now(example, tmp_path) == example.text


def test_stale_examples_are_brought_up_to_date(tmp_path: Path) -> None:
    session = ">>> 1 + 1\n{}\n>>> for i in (1, 2):\n...     print(i)\n...\n1\n2\n"
    page = (
        '```console\n$ txcalc get gpt3 dims.vocab\n{}\n$ txcalc get; echo "exit code $?"\n'
        "txcalc: Missing argument 'MODEL'; see 'txcalc get -h'\nexit code 2\n$ echo a | wc -l\n1\n"
        f"```\n```pycon\n{session}```\n```sh\n$ rm x\n```\n"
    )
    assert examples.refreshed(page.format(0, 3), tmp_path) == page.format(50257, 2)


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=[command for _, command in COMMANDS])
def test_a_command_in_the_prose_can_be_called(
    page: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples.write_files(TEXTS[page], tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    written(tmp_path / "model.safetensors", llama_header(LLAMA))
    monkeypatch.chdir(tmp_path)
    _, name, *arguments = shlex.split(command)
    ended = run(name, *(arguments or ["--help"]))
    assert ended.code in (0, 1), ended.err


@pytest.mark.parametrize(("path", "command"), docs.PICTURES.items())
def test_a_picture_shows_what_a_terminal_does(path: Path, command: str, tmp_path: Path) -> None:
    assert docs.shown(path.read_text("utf-8")) == docs.shown(docs.picture(command, tmp_path))
    assert _name(path) in links.targets(ROOT / "README.md")


@pytest.mark.parametrize("page", docs.PAGES, ids=_name)
def test_tables_are_as_the_program_has_them(page: Path) -> None:
    stale = [line for line in docs.stale(page, docs.tabulated(TEXTS[page])) if line[0] in "-+"]
    assert not stale, "run scripts/refresh_docs.py"


@pytest.mark.parametrize("page", docs.PAGES, ids=_name)
def test_a_page_has_no_dead_links(page: Path) -> None:
    assert not links.dead(page)


def test_a_link_to_no_file_or_no_heading_is_dead(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b`, c-d!\n# Twice\n# Twice\n```\n# Code\n```\n"
        "[a](#a-b-c-d) [b](page.md#twice-1) [c](https://example.org/#x) `[d](#d)`\n"
        "[e](#twice-2) [f](#code) ![g](none.svg) [h](none.md#a)\n"
    )
    wrong = [line.split()[1] for line in links.dead(page)]
    assert wrong == ["#twice-2", "#code", "none.svg", "none.md#a"]


def test_the_readme_leads_to_every_page() -> None:
    linked = {target.partition("#")[0] for target in links.targets(ROOT / "README.md")}
    assert linked >= {_name(page) for page in docs.PAGES} - {"README.md"}


def test_documented_numbers_hold() -> None:
    ended = run("check", *docs.PAGES)
    assert ended.code == 0, ended.out
    assert "0 fail" in ended.out


def test_the_setting_up_of_the_main_job_and_of_the_tests_are_one_line_each() -> None:
    main_job, tests = SETUP
    assert main_job.endswith(" && .venv/bin/txcalc show gpt3")
    assert tests.endswith(" && .venv/bin/pytest")
    first_screen = README.splitlines()[:46]
    assert {main_job, tests} <= set(first_screen)
    assert next(example.code for _, example in EXAMPLES) == "txcalc show gpt3"


def test_ci_takes_both_lines_from_the_page() -> None:
    assert "grep '^python3 -m venv .*' \"$root/README.md\"" in (ROOT / ".ci/run").read_text("utf-8")


def test_commands_and_options_of_the_help_are_in_the_tables() -> None:
    listed = run("--help").out.partition("Commands:\n")[2]
    commands = re.findall(r"^  ([a-z]+)", listed, re.MULTILINE)
    options = re.findall(r"^  (--[a-z]+)", run("get", "--help").out, re.MULTILINE)
    assert len(commands) > 10 < len(options)
    assert not [name for name in commands + options if f"\n| `{name}" not in GUIDE]
    questions = README.partition("\n## ")[0]
    assert not [name for name in commands if f" | `txcalc {name} " not in questions]


def test_every_kind_and_field_of_the_bundled_models_is_described() -> None:
    for path in (ROOT / "configs/models").glob("*.yaml"):
        tree = yaml.read(str(path))
        for word in _words({**tree, "parts": {}}):
            assert f"`{word}`" in MODELS, f"{path.name}: {word}"
        for part in tree.get("parts", {}).values():
            assert all(f"`{word}`" in MODELS for word in _words(part))


_NAMED = ("blocks", "stem", "tensors", "towers")
"""Fields whose own fields are names."""


def _words(tree: object) -> Iterator[str]:
    """Field names and kinds of a description."""
    if isinstance(tree, list):
        for item in tree:
            yield from _words(item)
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "kind":
                yield value
            else:
                yield key
                yield from _words([*value.values()] if key in _NAMED else value)


@pytest.mark.parametrize(
    "page", [page for page in docs.PAGES if page.name != "CHANGELOG.md"], ids=_name
)
def test_every_number_in_the_prose_is_a_claim_or_in_an_example_or_in_the_program(
    page: Path,
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert LARGEST == 10**15
    question = Question()
    known = {
        *re.findall(r"\d[\d,.]*\d|\d", "".join(example.text for _, example in EXAMPLES)),
        "3.11", "10^15", str(question.batch), str(question.new), str(question.tokens),
        str(PROMPT), "2^10", "2^20", "2^30", "10^9", "70", "130",
    }  # fmt: skip
    rest = re.sub(r"\d[\d,.]*\d(?=<!-- txcalc:)", "", PROSE[page])
    citations = r"\]\(\S+\)|\bsection [\d.]+"
    rest = re.sub(rf"`[^`]*`|{citations}|\b[A-Za-z]+[\d.:-]+[\w.]*", "", rest)
    numbers = re.findall(r"\d+\^\d+|\d[\d,.]*\d|\d", rest)
    assert not [number for number in numbers if number not in known]


def test_the_changelog_has_the_version() -> None:
    assert f"## {txcalc.__version__} - " in (ROOT / "CHANGELOG.md").read_text("utf-8")
