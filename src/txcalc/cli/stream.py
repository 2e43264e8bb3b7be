"""Long answers, chunk by chunk: whole lines only, a progress bar, and a quiet end."""

import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from io import UnsupportedOperation
from typing import Any

import typer

from txcalc.cli.output import writing

PATIENCE = 1.0
"""Seconds before a progress bar appears."""
GRACE = 0.2
"""Seconds that a reader has, after Ctrl-C, to read what is written already."""
BLOCK = 4096
"""Bytes that are written at once: a pipe that has room at all has room for so many."""


def stream(header: str, chunks: Iterable[tuple[int, str]], points: int) -> None:
    """Writes a header and chunks as they come, of which the first may be empty.

    Ctrl-C ends after a whole line, or at once where the output is not read; with code 130.
    """
    stopped: list[bool] = []
    before = signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    try:
        with writing():
            for text in _watched(chunks, points):
                if text:
                    _write(header + text, stopped)
                    header = ""
                if stopped:
                    break
    finally:
        signal.signal(signal.SIGINT, before)
    if stopped:
        raise typer.Exit(130)


def _write(text: str, stopped: Sequence[bool]) -> None:
    """Writes all of a text, or as much of it as is read once the user has stopped."""
    try:
        out = sys.stdout.fileno()
    except UnsupportedOperation:
        sys.stdout.write(text)
        return
    left = memoryview(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
    while left:
        if _has_room(out):
            left = left[os.write(out, left[:BLOCK]) :]
        elif stopped:
            return


def _has_room(out: int) -> bool:
    """Whether a write now would not wait; yes where the system cannot say."""
    try:
        return bool(select.select([], [out], [], GRACE)[1])
    except (OSError, ValueError):
        return True


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
