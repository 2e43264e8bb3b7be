"""Long answers, chunk by chunk: whole lines only, a progress bar, and a quiet end."""

import signal
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from txcalc.cli.output import writing

PATIENCE = 1.0
"""Seconds before a progress bar appears."""


def stream(header: str, chunks: Iterable[tuple[int, str]], points: int) -> None:
    """Writes a header and chunks as they come; Ctrl-C ends after a whole line, with code 130."""
    stopped = []
    before = signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    try:
        with writing():
            for text in _watched(chunks, points):
                _write(header + text)
                header = ""
                if stopped:
                    break
            sys.stdout.flush()
    finally:
        signal.signal(signal.SIGINT, before)
    if stopped:
        raise typer.Exit(130)


def _write(text: str) -> None:
    """Writes all of a text: an unbuffered stream stops halfway where a signal interrupts it."""
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None:
        sys.stdout.write(text)
        return
    left = memoryview(text.encode(sys.stdout.encoding or "utf-8"))
    while left:
        left = left[raw.write(left) :]


def _watched(chunks: Iterable[tuple[int, str]], points: int) -> Iterator[str]:
    """The texts, under a progress bar on standard error once they take longer than a moment."""
    started = time.monotonic()
    progress: Any = None
    done = 0
    try:
        for size, text in chunks:
            yield text
            done += size
            if progress is not None:
                progress.update(0, completed=done)
            elif sys.stderr.isatty() and time.monotonic() - started > PATIENCE:
                from txcalc.render.progress import bar

                progress = bar()
                progress.add_task("points", total=points, completed=done)
                progress.start()
    finally:
        if progress is not None:
            progress.stop()
