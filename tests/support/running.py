"""txcalc asked without a new process: its command line, and the library behind it."""

from __future__ import annotations

import atexit
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from tests.support.called import exit_code
from txcalc.accounts import registry
from txcalc.errors import TxcalcError
from txcalc.model.model import Model
from txcalc.report.report import Report
from txcalc.sources import bundled
from txcalc.sources import loading as sources
from txcalc.workload.question import Question

DATA = Path(__file__).parents[1] / "data"
ORACLE = Path(__file__).parents[1] / "oracle"
ACCOUNTS = (
    "params", "flops", "kvcache", "weights", "intensity", "concurrency", "generation", "dims",
)  # fmt: skip

BUNDLED = tuple(bundled.names())
MODELS = (
    "bart-base", "gpt2-large", "gpt2-medium", "gpt2-small", "gpt2-xl", "gpt3", "gpt3-13b",
    "gpt3-2.7b", "gpt3-6.7b", "gpt3-large", "gpt3-medium", "gpt3-small", "gpt3-xl",
    "roberta-base", "toy", "transformer-base",
)  # fmt: skip
"""Those that the first release came with; each is asked for everything."""
OTHERS = tuple(name for name in BUNDLED if name not in MODELS)[::10]

Tree = dict[str, Any]


class Run(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def run(*arguments: object, encoding: str = "utf-8") -> Run:
    """``txcalc ARGUMENTS`` with its output caught; a stream that cannot encode a sign raises."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding, newline="") for _ in range(2))
    err.reconfigure(errors="backslashreplace")
    argv = ["txcalc", *map(str, arguments)]
    with mock.patch.object(sys, "argv", argv), redirect_stdout(out), redirect_stderr(err):
        code = exit_code()
    return Run(int(code or 0), *map(_written, (out, err)))


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(stream.encoding)


def answer(*arguments: object) -> str:
    """What a command prints when it succeeds."""
    ran = run(*arguments)
    assert ran.code == 0, f"{arguments}: {ran.err}"
    return ran.out


def get(model: str, address: str, *options: object) -> int | Fraction:
    """One figure through ``txcalc get --exact``."""
    text = answer("get", model, address, "--exact", *options).removesuffix("\n")
    value = Fraction(text)
    assert text == (str(value) if "/" not in text else f"{value.numerator}/{value.denominator}")
    return value.numerator if value.denominator == 1 else value


def data(*arguments: object) -> list[dict[str, Any]]:
    """The reports of a command in JSON."""
    reports: list[dict[str, Any]] = json.loads(answer(*arguments, "--format", "json"))
    return reports


def figures(*arguments: object) -> dict[str, int | Fraction]:
    """Address -> exact value of a command about one model."""
    (report,) = data(*arguments)
    return {row["address"]: Fraction(row.get("exact", row["value"])) for row in report["rows"]}


def load(tree: Tree, changes: Sequence[str] = ()) -> Model:
    """The model of a description; JSON is YAML."""
    return named(save(tree), changes)


def named(name: str, changes: Sequence[str] = ()) -> Model:
    """The model of a bundled name or a file."""
    return sources.load(name, changes)


def save(tree: Tree, name: str = "generated.yaml") -> str:
    """A file with this description or, named config.json, this config, the last one's place."""
    return written(json.dumps(tree).encode(), name)


def written(raw: bytes, name: str) -> str:
    """A file of a name with these bytes, the last one's place."""
    path = _folder() / name
    path.write_bytes(raw)
    return str(path)


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return Path(folder)


def refusal_of(act: Callable[[], object]) -> str:
    """What txcalc says against an act; nothing where it carries it out."""
    try:
        act()
    except TxcalcError as error:
        return str(error)
    return ""


def report(account: str, model: Model, **question: Any) -> Report:
    """One account's report."""
    return registry.account(account, model, Question(**question))


def find(model: Model, address: str, **question: Any) -> int | Fraction:
    """One figure of a loaded model."""
    return registry.report_of(address, model, Question(**question)).find(address).value
