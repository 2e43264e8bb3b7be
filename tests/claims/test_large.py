"""A page or claims file of a megabyte ends within two seconds of a processor and 100 megabytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fuzz import MEGABYTES
from tests.support.pages import ABOUT, TOTAL

pytestmark = pytest.mark.slow

LIMITED = f"""
import resource
resource.setrlimit(resource.RLIMIT_DATA, ({MEGABYTES * 2**20},) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
from txcalc.cli import main
main()
"""
N = 1_000_000


def _filled(unit: str, end: str = TOTAL) -> str:
    return unit * (N // len(unit)) + end


LARGE = {
    "front-matter-of-colons.md": "---\na" + _filled(":"),
    "front-matter-of-keys.md": "---\n" + _filled("a: b:\n"),
    "front-matter-of-toml.md": "+++\n" + _filled("a+++\n"),
    "comments-in-html.md": "<div>\n" + _filled("<!-- "),
    "lines-of-comments-in-html.md": "<div>\n" + _filled("<!-- \n"),
    "comments-never-closed.md": _filled("<div>\n<!-- <!-- txcalc: \n\n"),
    "claims-never-closed.md": _filled("a <!-- txcalc: b\n\n"),
    "escaped-claims.md": _filled("\\<!-- txcalc: "),
    "tags-in-html.md": "<div>\n" + _filled("<a"),
    "line-breaks-in-html.md": "<div>\n" + _filled("<br>"),
    "cdata.md": _filled("a <![CDATA["),
    "processing.md": _filled("a <?"),
    "declarations.md": _filled("a <!A "),
    "brackets.md": _filled("["),
    "emphasis.md": _filled("**a_b"),
    "code.md": _filled("` `` ``` "),
    "definitions.md": _filled("[a]: b\n", f"\n1M{TOTAL}"),
    "lists.md": _filled("- a\n", f"\n1M{TOTAL}"),
    "tables.md": "| a | b |\n|--|--|\n" + _filled("| 1 | 2 |\n", f"\n1M{TOTAL}"),
    "empty-lines.md": _filled("\n"),
    "numbers.md": _filled("1,"),
    "like-names.md": "".join(f"5<!-- txcalc: toi{i} params.total -->\n\n" for i in range(9000)),
    "like-units.md": "".join(f"5 parsec{i}s{TOTAL}\n\n" for i in range(9000)),
    "comments.mdx": _filled("{/* ", f"*/}} 5{{/* {ABOUT} */}}"),
    "processing.mdx": "{/* txcalc: " + _filled("?>", "*/}"),
    "comments.rst": f".. {ABOUT}\n" + _filled("   x\n"),
    "colons.rst": ".. " + _filled("a:", f"x\n\n.. {ABOUT}\n"),
    "verbatim.tex": _filled("\\verb|", f"% {ABOUT}\n"),
    "groups.tex": _filled("{" * 1000 + f"124M% {ABOUT}\n"),
    "cells.ipynb": '{"cells": [' + _filled('{"cell_type":"markdown","source":["txcalc"]},', "{}]}"),
    "depth.ipynb": '{"cells": ' + _filled("[", '"txcalc"'),
    "numbers.ipynb": '{"txcalc": [' + _filled("1,", '1], "cells": []}'),
    "duplicate-keys.yaml": "claims:\n- {" + _filled("a: 1, ", "}"),
    "keys.yaml": "claims:\n- {" + ", ".join(f"k{i}: 1" for i in range(80_000)) + "}\n",
    "directives.yaml": "".join(f"%TAG !a{i}! x:\n" for i in range(60_000)) + "---\nclaims: []\n",
    "rows.yaml": "claims:\n" + _filled("- a\n", ""),
    "like-names.yaml": "claims:\n"
    + "".join(f"- {{id: a{i}, model: toi{i}, claim: a.b, value: 1}}\n" for i in range(9000)),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(LARGE[name], "utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, "check", str(path), "--format", "json"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, timeout=60,
    )  # fmt: skip
    assert ran.returncode in (0, 1, 2), ran.stderr[-300:]
