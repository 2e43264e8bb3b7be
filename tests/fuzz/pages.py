"""Pages with claims in all formats: ``python -m tests.fuzz.pages --seed 0 --inputs 1000``."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.fuzz.campaign import main
from tests.fuzz.commands import called, wrong
from tests.support.fuzz import ADDRESSES, VALUES, broken
from tests.support.running import written
from txcalc.claims.pages import ENDINGS

NUMBERS = (
    "124M", "124,439,808", "125M", "9 GiB", "9 GB", "66.7%", "1.05 million", "3.14e23", "2/3",
    "1.24億", "1{,}024", r"1\,024", r"1.24 \times 10^{8}", r"66.7\%", "> 1", "about 124M", "-0",
    "1e999", "9" * 250, "5", "0", "", "1/0", "$124{,}439{,}808$", "**124M**", "`124M`",
    "17.3 MFLOPs",
)  # fmt: skip
MODELS = (
    "gpt2-small",
    "toy",
    "gpt3",
    "nothing",
    "-",
    "hf:a/b",
    "/dev/zero",
    ".",
    "\x1b[2J",
    "=1+1",
)
OPTIONS = ("ctx=1024", "ctx=32k", "kv=fp8", "set=n_layers=48", "within=3%", "nothing=1", "ctx=0",
           "options:", "type=llama", "device=h100-sxm", "set=", "=", "ctx=" + "9" * 99)  # fmt: skip
COMMENTS = ("<!-- {} -->", "<!--{}-->", "{{/* {} */}}", " % {}\n", "\n\n.. {}\n", "<!-- {}", "{}")
PIECES = (
    "# A heading\n", "\n", "\n\n", "- ", "> ", "    ", "```yaml\n", "```\n", "~~~\n", "| a | b |\n",
    "|--|--|\n", "<div>\n", "</div>\n", "<!-- ", " -->", "---\n", "+++\n", "a: b\n", "$$\n", "\\(",
    "\\verb|", "\\begin{verbatim}\n", "\\end{verbatim}\n", ".. code::\n\n", "[a]: b\n", "[", "](",
    "<![CDATA[", "<?", "\\", "\r\n", "\u2028", "\x1b[31m", "\u202e", "\x00", "\ufeff", "{/* ",
    " */}", "export const a = 1\n", "&lt;", "*", "_", "a" * 300, "word ", "約 ",
)  # fmt: skip
FORMATS = ("table", "table", "json", "github")


def case(rng: random.Random) -> str:
    """How the check of one page ends, and whether a second refresh finds nothing left to do."""
    ending = rng.choice(ENDINGS)
    text = _claims_file(rng) if ending in (".yaml", ".yml") else _page(rng)
    if ending == ".ipynb":
        text = _notebook(rng, text)
    raw = text.encode("utf-8", "surrogatepass")
    path = written(broken(rng, raw) if rng.random() < 0.2 else raw, f"fuzzed{ending}")
    options = ["--format", rng.choice(FORMATS), *rng.choice(([], [], ["-q"], ["--write"]))]
    fault = wrong(called("check", path, *options), f"{ending} {options} {text!a}", (0, 1, 2))
    if fault or "--write" not in options:
        return fault
    refreshed = Path(path).read_bytes()
    called("check", path, "--write")
    again = Path(path).read_bytes()
    return "" if again == refreshed else f"wrong code: {ending} is not refreshed at once: {text!a}"


def _page(rng: random.Random) -> str:
    """Pieces of a page, and among them claims."""
    pieces = rng.choices(PIECES, k=rng.randrange(12))
    claims = [_claim(rng) for _ in range(rng.choice((1, 1, 2, 5)))]
    mixed = [*pieces, *claims]
    rng.shuffle(mixed)
    return "".join(mixed)


def _claim(rng: random.Random) -> str:
    body = " ".join([
        rng.choice(("txcalc:", "txcalc:", "txcalc:", "txcalc", "TXCALC:")), rng.choice(MODELS),
        rng.choice((*ADDRESSES, "params.total", "params.total / 2", "6*n(params.total)")),
        *rng.sample(OPTIONS, rng.choice((0, 0, 1, 2))),
    ])  # fmt: skip
    return f"{rng.choice(NUMBERS)}{rng.choice(COMMENTS).format(body)}"


def _claims_file(rng: random.Random) -> str:
    """Rows of a claims file, some of whose fields are wrong."""
    rows = []
    for i in range(rng.choice((1, 2, 5))):
        row = {
            "id": f"c{i}", "model": rng.choice(MODELS), "claim": rng.choice(ADDRESSES),
            "value": rng.choice(NUMBERS),
        }  # fmt: skip
        wrong_too = {
            "relation": rng.choice(("rounds", "within", "over", "x")), "tolerance": "3%",
            "because": "x", "expect": rng.choice(("misprint", "rounded-inputs", "holds")),
            "should_be": rng.choice(NUMBERS), "inputs": "1e99*1e99", "options": {"ctx": 1},
            rng.choice(list(row)): rng.choice(VALUES),
        }  # fmt: skip
        names = rng.sample(list(wrong_too), rng.choice((0, 1, 3)))
        rows.append(row | {name: wrong_too[name] for name in names})
    return json.dumps({"source": "x", "claims": rows}, ensure_ascii=rng.random() < 0.5)


def _notebook(rng: random.Random, text: str) -> str:
    cell = {"cell_type": "markdown", "source": rng.choice((text, text.splitlines(keepends=True)))}
    return json.dumps({"cells": [cell], "nbformat": 4}, ensure_ascii=rng.random() < 0.5)


if __name__ == "__main__":
    main(case)
