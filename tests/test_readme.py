"""README.md and docs/*.md say what txcalc does: examples, tables, fields and numbers."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import msgspec
import pytest

import txcalc
from txcalc import structure, workload
from txcalc.accounts import generation
from txcalc.accounts.question import MAX_TOKENS, Question
from txcalc.cli import commands
from txcalc.formats import FORMATS
from txcalc.parts.base import Part
from txcalc.parts.mla import Indexer
from txcalc.parts.norm import Norm
from txcalc.parts.tensor import Tensor
from txcalc.render.text import Format
from txcalc.sources.bundled import DOCUMENTED
from txcalc.sources.decoder import MAX_SIZE
from txcalc.sources.description import Description

ROOT = Path(__file__).resolve().parent.parent


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("refresh_docs", ROOT / "scripts/refresh_docs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs = _script()
PAGE, FIELDS = ((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/models.md"))
SETUP = [line for line in PAGE.splitlines() if line.startswith("python3 -m venv ")]
EXAMPLES = [example for page in docs.PAGES for example in docs.examples(page.read_text("utf-8"))]
PROSE = re.sub(r"^```.*?^```$", "", f"{PAGE}\n{FIELDS}", flags=re.MULTILINE | re.DOTALL)


def _kinds(base: type[Part] = Part) -> set[type[Part]]:
    """Every kind of part that a description can name."""
    below = set().union(*map(_kinds, base.__subclasses__()))
    named = base.__struct_config__.tag != base.__name__
    return below | ({base} if named else set())


STRUCTS = [
    Description, structure.Stack, structure.Block, structure.Embedding, structure.Head,
    structure.Module, Tensor, Indexer, *_kinds(),
]  # fmt: skip


def _section(title: str) -> str:
    return PROSE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@cache
def _commands() -> dict[str, Any]:
    from typer.main import get_command

    found: dict[str, Any] = get_command(commands.app).commands  # type: ignore[attr-defined]
    return found


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


def test_every_command_is_in_the_table() -> None:
    rows = re.findall(r"^\| `([a-z]+)[^`]*` \|", _section("Commands"), re.MULTILINE)
    assert sorted(rows) == sorted(_commands())


def test_every_option_is_in_the_table_with_its_default() -> None:
    table = _section("Commands").partition("| option |")[2]
    rows = re.findall(r"^\| (`--.*?) \| (.*?) \|", table, re.MULTILINE)
    told = {name: default for names, default in rows for name in re.findall(r"--[a-z]+", names)}
    found: dict[str, set[str]] = {}
    for command in _commands().values():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                value = parameter.default
                shown = "" if value is None or value is False else str(value)
                found.setdefault(parameter.opts[0], set()).add(shown)
    assert set(told) == set(found) - {"--help", "-h"}
    for name, defaults in found.items():
        for default in defaults - {""}:
            assert default in told[name], name


def test_every_choice_is_named() -> None:
    table = _section("Commands")
    choices = (Format, workload.Phase, workload.Scores, workload.Logits, workload.Mla)
    for name in [*(name for choice in choices for name in get_args(choice)), *FORMATS, *DOCUMENTED]:
        assert f"`{name}`" in table, name


def test_every_field_and_kind_of_a_model_file_is_described() -> None:
    names = {field for struct in STRUCTS for field in struct.__struct_fields__}
    names |= {str(part.__struct_config__.tag) for part in _kinds()}
    names |= {*get_args(Norm), *get_args(structure.Placement)}
    assert not {name for name in names if f"`{name}`" not in FIELDS}


def test_every_field_that_may_be_left_out_means_that_there_is_none_or_is_told() -> None:
    for struct in STRUCTS:
        for field, default in _defaults(struct).items():
            text = str(getattr(default, "value", default)).lower()
            assert f"`{field}: {text}`" in FIELDS, struct


def _defaults(struct: type[msgspec.Struct]) -> dict[str, object]:
    """What fields are where they are left out, unless that is nothing."""
    fields, defaults = struct.__struct_fields__, struct.__struct_defaults__
    given = dict(zip(reversed(fields), reversed(defaults), strict=False))
    empty = [default for default in given.values() if type(default).__name__ == "Factory"]
    nothing = [None, False, "none", msgspec.NODEFAULT, *empty]
    return {field: default for field, default in given.items() if default not in nothing}


def test_every_command_in_the_prose_can_be_called(folder: Path) -> None:
    spans = re.findall(r"`(txcalc [^`]+)`", PROSE)
    for command in spans:
        if "COMMAND" not in command and "--install-completion" not in command:
            assert "Error" not in docs.run(command, folder), command
    assert spans


def test_every_number_in_the_prose_is_in_an_example_or_in_the_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert MAX_SIZE == MAX_TOKENS == 10**15
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
