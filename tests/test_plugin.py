"""The pytest plugin and the hooks for other people's CI."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.pages import ABOUT, TOTAL
from txcalc.claims.pages import ENDINGS

ROOT = Path(__file__).resolve().parent.parent
PAGE = f"# 124M{TOTAL}\n\nand 125M{TOTAL}\n\nnone{TOTAL}\n"
CLAIMS = "claims:\n- {id: total, model: toy, claim: params.total, value: '329,600'}\n"


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *arguments,
    ]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    (tmp_path / "claims.yaml").write_text(CLAIMS, "utf-8")
    (tmp_path / "test_none.py").write_text(
        "import sys\ndef test_nothing_of_ours():\n"
        "    assert not [name for name in sys.modules if name.startswith('txcalc.claims')]\n",
        "utf-8",
    )
    return tmp_path


def test_a_claim_is_a_test_and_junit_knows_it(folder: Path) -> None:
    ran = pytest_in(folder, "page.md", "claims.yaml", "--junitxml=report.xml")
    assert ran.returncode == 1
    assert "2 failed, 2 passed" in ran.stdout
    assert "it is 124,439,808 parameters" in ran.stdout
    assert "page.md:5: no number stands right before the comment" in ran.stdout
    cases = ElementTree.parse(folder / "report.xml").getroot().iter("testcase")
    assert [case.get("name") for case in cases] == ["line 1", "line 3", "line 5", "total"]


def test_only_what_the_command_line_names_is_collected(folder: Path) -> None:
    ran = pytest_in(folder)
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout
    ran = pytest_in(folder, "claims.yaml", "-v")
    assert "1 passed" in ran.stdout
    assert "claims.yaml::total PASSED" in ran.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [("page.rst", f"124M\n\n.. {ABOUT}\n"), ("page.tex", f"124M % {ABOUT}\n"),
     ("page.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": f"124M{TOTAL}"}]}))],
)  # fmt: skip
def test_pages_of_every_format_can_be_named(name: str, text: str, folder: Path) -> None:
    (folder / name).write_text(text, "utf-8")
    ran = pytest_in(folder, name)
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


def test_one_claim_can_be_asked_for(folder: Path) -> None:
    ran = pytest_in(folder, "page.md::line 1")
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


def test_the_hooks_call_commands_that_there_are() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [hook["entry"] for hook in hooks] == ["txcalc check -q", "txcalc check --write"]
    for hook in hooks:
        read = [ending for ending in ENDINGS if re.search(hook["files"], f"claims{ending}")]
        assert read == list(ENDINGS)
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert action["runs"]["using"] == "composite"
    assert any(
        "txcalc check --format github" in step.get("run", "") for step in action["runs"]["steps"]
    )
