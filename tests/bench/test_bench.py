"""How fast and how small: ``pytest -m bench -s``.

What is compared is run in turns, so that a busy machine slows both; medians are reported.  The
goals are reported too, but not asserted: a busy machine is no fault of the program.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from txcalc.accounts import registry
from txcalc.model.model import Model
from txcalc.sources.bundled import configs
from txcalc.sources.devices import load_device
from txcalc.sources.loading import load
from txcalc.workload.question import Question

pytestmark = pytest.mark.bench

LAUNCH = Path(__file__).with_name("launch.py")
PROCESSES, ROUNDS = 40, 200
ACCOUNTS = ("params", "flops", "kvcache", "weights", "intensity", "concurrency", "generation")
"""Accounts that need nothing beside a model, and that every decoder has."""

MINIMAL = '''
import sys

import typer
import yaml
from rich.console import Console
from rich.table import Table

app = typer.Typer()


@app.command()
def params(file: str) -> None:
    """Parameters."""
    with open(file, encoding="utf-8") as opened:
        model = yaml.load(opened, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    table = Table(title=model["name"])
    for column in ("", model["name"], "share"):
        table.add_column(column)
    for i in range(ROWS):
        table.add_row(f"row {i}", f"{model['d_model'] * i:,}", f"{i}.0%")
    Console().print(table)
    for note in range(NOTES):
        Console().print("a note below the table that is about as long as a line of eighty columns")


app()
'''


def _say(what: str, value: str, goal: str, *, met: bool) -> None:
    print(f"  {what:<44} {value:>24}   goal {goal:<12} {'met' if met else 'missed'}")


def _in_turns(rounds: int, *runs: Callable[[], object]) -> list[float]:
    """Median seconds of each of several calls, made in turns."""
    taken: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, times in zip(runs, taken, strict=True):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    return [median(times) for times in taken]


def test_a_command_against_a_minimal_program(tmp_path: Path) -> None:
    command = shutil.which("txcalc", path=str(Path(sys.executable).parent))
    ours = [command, "params", "gpt2-small"] if command else [
        sys.executable, "-m", "txcalc", "params", "gpt2-small"
    ]  # fmt: skip
    printed = subprocess.run(ours, capture_output=True, text=True, check=True).stdout
    table, _, notes = printed.rstrip().rpartition("\n\n")
    rows = len(table.splitlines()) - 4
    program = MINIMAL.replace("ROWS", str(rows)).replace("NOTES", str(len(notes.splitlines())))
    (tmp_path / "minimal.py").write_text(program, "utf-8")
    model = Path(configs()) / "models" / "gpt2-small.yaml"
    minimal = [sys.executable, str(tmp_path / "minimal.py"), str(model)]
    launch = [sys.executable, "-I", "-S", str(LAUNCH), str(PROCESSES)]
    launched = subprocess.run(
        [*launch, json.dumps(ours), json.dumps(minimal)], capture_output=True, text=True, check=True
    )
    ours_took, theirs_took = (
        [median(column) for column in zip(*runs, strict=True)]
        for runs in zip(*json.loads(launched.stdout), strict=True)
    )
    print(f"\ntxcalc params gpt2-small, against Typer + Rich + PyYAML printing {rows} rows")
    for i, what in enumerate((f"wall time, {PROCESSES} runs each in turns", "of it computing")):
        ratio = ours_took[i] / theirs_took[i]
        times = f"{ours_took[i] * 1e3:.1f} / {theirs_took[i] * 1e3:.1f} ms = {ratio:.2f}"
        _say(what, times, "<= 1.25", met=ratio <= 1.25)
    peaks = f"{ours_took[2] / 1024:.1f} MiB ({theirs_took[2] / 1024:.1f})"
    _say("peak resident memory", peaks, "<= 45 MB", met=ours_took[2] * 1024 <= 45e6)


def _everything(model: Model) -> None:
    for name in ACCOUNTS:
        registry.account(name, model, Question())


def test_the_whole_account_of_gpt3() -> None:
    fresh = iter([load("gpt3") for _ in range(ROUNDS)])
    known = load("gpt3")
    _everything(known)
    first, again, reading = _in_turns(
        ROUNDS,
        lambda: _everything(next(fresh)),
        lambda: _everything(known),
        lambda: load("gpt3"),
    )
    print("\nthe whole account of gpt3, in process and warm")
    _say("all accounts, model new", f"{first * 1e3:.2f} ms", "< 2 ms", met=first < 2e-3)
    _say("all accounts, model asked before", f"{again * 1e3:.2f} ms", "< 2 ms", met=again < 2e-3)
    print(f"  reading its description takes {reading * 1e3:.2f} ms more")


def test_the_roofline_of_deepseek_v3() -> None:
    model, asked = load("deepseek-v3"), Question(ctx=4096, device=load_device("h100-sxm"))
    [taken] = _in_turns(ROUNDS, lambda: registry.account("roofline", model, asked))
    print("\nthe roofline of deepseek-v3 with its turning points, in process and warm")
    _say("roofline", f"{taken * 1e3:.2f} ms", "< 20 ms", met=taken < 20e-3)


def test_a_deep_model_against_a_shallow_one() -> None:
    deep, shallow = _in_turns(
        ROUNDS,
        lambda: _everything(load("gpt2-small", ["n_layers=10000"])),
        lambda: _everything(load("gpt2-small", ["n_layers=12"])),
    )
    print("\n10,000 layers against 12: reading and all accounts")
    ratio = deep / shallow
    times = f"{deep * 1e3:.2f} / {shallow * 1e3:.2f} ms = {ratio:.2f}"
    _say("wall time", times, "<= 1.2", met=ratio <= 1.2)


def test_a_million_swept_points() -> None:
    sweep = [
        sys.executable, "-m", "txcalc", "sweep", "gpt2-small", "flops.total", "--over",
        "ctx=1:1000000", "--format", "csv",
    ]  # fmt: skip
    launch = [sys.executable, "-I", "-S", str(LAUNCH), "5", json.dumps(sweep)]
    launched = subprocess.run(launch, capture_output=True, text=True, check=True)
    runs = [run for [run] in json.loads(launched.stdout)]
    computing, peak = (median(run[i] for run in runs) for i in (1, 2))
    print("\na million points of flops.total to CSV, start-up included")
    _say("computing, on one core", f"{computing:.2f} s", "<= 1 s", met=computing <= 1)
    _say("peak resident memory", f"{peak / 1024:.1f} MiB", "<= 64 MB", met=peak * 1024 <= 64e6)
