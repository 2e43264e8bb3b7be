"""``txcalc check --write`` killed at any moment: whole files, and nothing left that stays."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.pages import HOLDS, STALE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX has these signals"),
]
RUNS, PAGES, SEED = 40, 40, 9
FRESH = STALE.replace("125M", "124M")


@pytest.fixture
def pages(tmp_path: Path) -> list[Path]:
    return [tmp_path / f"page-{i}.md" for i in range(PAGES)]


def ended(folder: Path, number: int, delay: float) -> tuple[int, str]:
    """How a run ends that gets a signal after so many seconds, and what it prints."""
    command = [sys.executable, "-m", "txcalc", "check", "--write", str(folder), "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(delay)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out


def delays() -> list[float]:
    """From the start of Python to the end of most runs."""
    rng = random.Random(SEED)
    started = time.monotonic()
    subprocess.run([sys.executable, "-m", "txcalc", "--version"], check=True, capture_output=True)
    start = time.monotonic() - started
    return [rng.uniform(start / 2, 4 * start) for _ in range(RUNS)]


def write_stale(pages: list[Path]) -> None:
    for page in pages:
        page.write_text(STALE + HOLDS * 20, "utf-8")


def refreshed(pages: list[Path]) -> set[str]:
    """The pages that are fresh; each other one is as it was."""
    texts = {str(page): page.read_text("utf-8") for page in pages}
    assert set(texts.values()) <= {STALE + HOLDS * 20, FRESH + HOLDS * 20}
    return {page for page, text in texts.items() if text.startswith(FRESH)}


def test_after_sigkill_files_are_whole_and_the_next_run_leaves_nothing(pages: list[Path]) -> None:
    folder = pages[0].parent
    half_way = 0
    for delay in delays():
        write_stale(pages)
        ended(folder, signal.SIGKILL, delay)
        half_way += 0 < len(refreshed(pages)) < PAGES
    ended(folder, 0, 0)
    assert half_way
    assert len(refreshed(pages)) == PAGES
    assert sorted(folder.iterdir()) == sorted(pages)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_after_sigterm_files_are_whole_and_nothing_is_left(number: int, pages: list[Path]) -> None:
    for delay in delays():
        write_stale(pages)
        code, _ = ended(pages[0].parent, number, delay)
        assert code in (0, -number)
        refreshed(pages)
        assert sorted(pages[0].parent.iterdir()) == sorted(pages)


def test_after_ctrl_c_the_report_names_what_was_refreshed(pages: list[Path]) -> None:
    for delay in delays():
        write_stale(pages)
        code, out = ended(pages[0].parent, signal.SIGINT, delay)
        done = refreshed(pages)
        assert sorted(pages[0].parent.iterdir()) == sorted(pages)
        if out:
            assert code in (0, 130)
            rows = json.loads(out)
            assert {row["file"] for row in rows if row["status"].startswith("refreshed")} == done
        else:
            assert not done
