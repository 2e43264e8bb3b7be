"""Values as they are written, each given to what reads it alone: ``python -m tests.fuzz.values``.

Sizes, arithmetic, axes, changes, formats, numbers of documents, YAML, JSON and pages: short texts
of the pieces that such values have.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.campaign import main
from tests.fuzz.pages import COMMENTS, NUMBERS
from tests.fuzz.pages import PIECES as OF_PAGES
from tests.support.fuzz import SNIPPETS, attempt
from tests.support.running import named, report
from txcalc.claims.commented import claims
from txcalc.claims.readers import READERS, comments
from txcalc.claims.units import NAMES
from txcalc.claims.written import read_number, restyled
from txcalc.report import sizes
from txcalc.report.expression import evaluate
from txcalc.sources import edits, json, yaml
from txcalc.sources.loading import read
from txcalc.sweeps.axes import axes
from txcalc.workload.chosen import chosen_cache, chosen_weights
from txcalc.workload.layout import layout

DIGITS = ("0", "1", "7", "12", "124", "439", "808", "000", "9" * 45, "9" * 5000, "١", "²", "½")
SIGNS = (".", ",", "_", " ", "-", "+", "−", "e", "E", "^", "**", "(", ")", "{", "}", "\\", "\u00a0")
OPERATORS = (" + ", " - ", "*", "/", "(", ")", "n(", ")", " ", "-", "=", ":", "x", "+")
LETTERS = (
    "params.total", "params.block.ffn", "dims.d_model", "d_model", "n_heads", "d_ff", "vocab",
    "n_layers", "ffn.kind", "blocks", "model", "ctx", "toy", "gpt3", "x" * 200,
)  # fmt: skip
FORMATS = ("fp16", "fp8", "int4", "awq-g", "gptq-g", "q4_0", "q4_k_m", "fp8-128x128", "head", "=",
           "embedding", "experts", "own", "keys", "rope", ",", "g", "0", "128")  # fmt: skip
YAML = tuple(snippet.decode("latin-1") for snippet in SNIPPETS)
JSON = (
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    '"a"',
    "\\u",
    "d800",
    "NaN",
    "Infinity",
    "1e999",
    "-",
    "\n",
)
PAGES = (*OF_PAGES, *NUMBERS, *(form.format("txcalc: toy params.total") for form in COMMENTS))

TREE, FILE, _ = read("toy")
FIGURES = report("params", named("toy"))


def _number(text: str, unit: str) -> None:
    """A written number, and another value in its style, which reads as that value rounded."""
    written = read_number(text, unit)
    restyled(written, FIGURES.find("params.total").value * written.scale / 3)


def _page(text: str, ending: str) -> None:
    list(claims(comments(text, ending), text, f"page{ending}"))


READ: dict[Callable[[str], object], tuple[str, ...]] = {
    sizes.whole: (*DIGITS, *SIGNS, "k", "Ki", "M", "Ti"),
    lambda text: evaluate(text, FIGURES.find): (*DIGITS, *OPERATORS, *LETTERS, "e99", "."),
    lambda text: axes([text]): (*DIGITS, *OPERATORS, *LETTERS, ",", "Ki"),
    lambda text: edits.changed(TREE, FILE, edits.parse_edits([text])): (
        *DIGITS, *OPERATORS, *OPERATORS, *LETTERS, *YAML,
    ),
    lambda text: chosen_weights(text, "fp16"): (*FORMATS, *DIGITS),
    lambda text: chosen_cache(text, "fp16"): (*FORMATS, *DIGITS),
    lambda text: layout(stages=text, pp=2): (*DIGITS, *SIGNS),
    lambda text: _number(text, ""): (*DIGITS, *SIGNS, *NAMES, *NUMBERS),
    lambda text: _number(text, "bytes"): (*DIGITS, *SIGNS, *NAMES, *NUMBERS),
    lambda text: yaml.parse(text, "text"): (*YAML, *LETTERS, *DIGITS),
    lambda text: json.parse(text.encode("utf-8", "surrogatepass"), "text"): (*JSON, *DIGITS),
    **{lambda text, ending=ending: _page(text, ending): PAGES for ending in READERS},
}  # fmt: skip
"""Each reader with the pieces that it is given."""
READERS_OF_ALL = list(READ.items())


def case(rng: random.Random) -> str:
    """One value given to its reader."""
    reader, pieces = rng.choice(READERS_OF_ALL)
    text = "".join(rng.choices(pieces, k=rng.choice((1, 2, 3, 3, 5, 8, 13))))
    attempt(lambda: reader(text))
    return ""


if __name__ == "__main__":
    main(case)
