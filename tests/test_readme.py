"""README.md and docs/*.md say what txcalc does: examples, tables, fields and numbers."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import txcalc
from txcalc.accounts import generation
from txcalc.exact.quantity import LARGEST
from txcalc.sources import yaml
from txcalc.workload.question import Question

ROOT = Path(__file__).resolve().parent.parent


sys.path.insert(0, str(ROOT / "scripts"))
docs = importlib.import_module("refresh_docs")
PAGE, FIELDS = ((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/models.md"))
SETUP = [line for line in PAGE.splitlines() if line.startswith("python3 -m venv ")]
EXAMPLES = [example for page in docs.PAGES for example in docs.examples(page.read_text("utf-8"))]
WRITTEN = re.sub(r"^```.*?^```$", "", f"{PAGE}\n{FIELDS}", flags=re.MULTILINE | re.DOTALL)
PROSE = re.sub(r"^<!-- (\w+) -->.*?^<!-- end of \1", "", WRITTEN, flags=re.MULTILINE | re.DOTALL)


def _section(title: str) -> str:
    return WRITTEN.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readme")
    docs.write_files(f"{PAGE}\n{FIELDS}", path)
    return path


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_prints_what_the_page_shows(command: str, output: str, folder: Path) -> None:
    assert docs.run(command, folder) == output


@pytest.mark.parametrize(("path", "command"), docs.PICTURES.items())
def test_a_picture_shows_what_a_terminal_does(path: Path, command: str, folder: Path) -> None:
    assert docs.shown(path.read_text("utf-8")) == docs.shown(docs.picture(command, folder))
    assert str(path.relative_to(ROOT)) in PROSE


def test_the_setting_up_of_the_main_job_and_of_the_tests_are_one_line_each() -> None:
    main_job, tests = SETUP
    assert main_job.endswith(" && .venv/bin/txcalc show gpt3")
    assert tests.endswith(" && .venv/bin/pytest")
    first_screen = PAGE.splitlines()[:30]
    assert {main_job, tests} <= set(first_screen)
    assert next(command for command, _ in EXAMPLES) == "txcalc show gpt3"


def test_ci_takes_both_lines_from_the_page() -> None:
    assert "grep '^python3 -m venv .*' \"$root/README.md\"" in (ROOT / ".ci/run").read_text("utf-8")


@pytest.mark.parametrize("page", docs.PAGES, ids=lambda page: page.name)
def test_tables_are_as_the_program_tells_them(page: Path) -> None:
    text = page.read_text("utf-8")
    stale = [line for line in docs.stale(page, docs.tabulated(text)) if line[0] in "-+"]
    assert not stale, "run scripts/refresh_docs.py"


def test_commands_and_options_of_the_help_are_in_the_tables() -> None:
    section = _section("Commands")
    listed = docs.run("txcalc --help", ROOT).partition("Commands:\n")[2]
    told = docs.run("txcalc get --help", ROOT)
    names = [*re.findall(r"^  ([a-z]+)", listed, re.M), *re.findall(r"^  (--[a-z]+)", told, re.M)]
    assert len(names) > 20
    assert not [name for name in names if f"\n| `{name}" not in section]


def test_every_kind_and_field_of_the_bundled_models_is_described() -> None:
    for path in (ROOT / "configs/models").glob("*.yaml"):
        tree = yaml.read(str(path))
        for word in _words({**tree, "parts": {}, "blocks": [*tree["blocks"].values()]}):
            assert f"`{word}`" in FIELDS, f"{path.name}: {word}"
        for part in tree.get("parts", {}).values():
            assert all(f"`{word}`" in FIELDS for word in _words(part))


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
                yield from _words([*value.values()] if key == "tensors" else value)


def test_every_command_in_the_prose_can_be_called(folder: Path) -> None:
    spans = re.findall(r"`(txcalc [^`]+)`", PROSE)
    for command in spans:
        if "COMMAND" not in command and "--install-completion" not in command:
            assert "Error" not in docs.run(command, folder), command
    assert spans


def test_every_number_in_the_prose_is_in_an_example_or_in_the_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert LARGEST == 10**15
    question = Question()
    known = {
        *re.findall(r"\d[\d,.]*\d|\d", "".join(output for _, output in EXAMPLES)),
        "3.11", "10^15", str(question.batch), str(question.new), str(question.tokens),
        str(generation.PROMPT), "2^10", "2^20", "2^30", "70", "130",
    }  # fmt: skip
    names = r"`[^`]*`|\b[A-Za-z]+[\d.-]+\w*"
    rest = re.sub(names, "", re.sub(r"\(docs/\S+\)", "", PROSE))
    numbers = re.findall(r"\d+\^\d+|\d[\d,.]*\d|\d", rest)
    assert not [number for number in numbers if number not in known]


def test_the_changelog_has_the_version() -> None:
    assert f"## {txcalc.__version__} - " in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("page", [*docs.PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_a_page_has_no_dead_links(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
