"""Faults of the machine: ``python -m tests.fuzz.machine --seed 0 --inputs 200``.

Streams that are closed, full or cut off, a folder that is gone, and Ctrl-C: each input is a process
of its own.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from tests.fuzz.campaign import main

COMMANDS = {
    "params toy": 0, "show gpt2-small": 0, "flops gpt3 --format json": 0, "-h": 0, "get -h": 0,
    "--version": 0, "get toy params.total": 0, "params nowhere": 2, "params toy --nothing": 2,
    "kvcache toy --ctx 4096": 0, "sweep toy flops.total --over ctx=1:4000 --format csv": 0, "": 2,
}  # fmt: skip
"""By command its exit code where nothing is wrong with the machine."""
FULL = ">/dev/full"
STREAMS = ("<&-", "2>&-", "2>/dev/full", FULL)
CUT_OFF = "| head -c 1 >/dev/null"
ENCODINGS = ("utf-8", "ascii", "latin-1", "ascii:strict")
START = "import os; from txcalc.cli import main; os.close({}); main()"
"""A program that shows when its own code begins to run, since Python's start is not ours."""
MOMENT = 0.003
"""Seconds that it needs from there to its first statement, at most."""


def case(rng: random.Random) -> str:
    """A command under some faults, or stopped by Ctrl-C at some moment."""
    command = rng.choice(list(COMMANDS))
    return _stopped(command, rng) if rng.random() < 0.3 else _faulty(command, rng)


def _faulty(command: str, rng: random.Random) -> str:
    faults = rng.sample(STREAMS, rng.choice((1, 1, 2))) + rng.choice(([], [], [CUT_OFF]))
    go = rng.choice(("", "rmdir $PWD;"))
    line = f"{go} {sys.executable} -m txcalc {command} {' '.join(faults)}; exit ${{PIPESTATUS[0]}}"
    with tempfile.TemporaryDirectory() as folder:
        inner = os.path.join(folder, "gone")
        os.mkdir(inner)
        ran = subprocess.run(
            ["bash", "-c", line], capture_output=True, check=False, cwd=inner, timeout=60,
            env=os.environ | {"PYTHONIOENCODING": rng.choice(ENCODINGS)},
        )  # fmt: skip
    wanted = 2 if FULL in faults else COMMANDS[command]
    shown = f"{line!r} ended with {ran.returncode}, not {wanted}: {ran.stderr[-300:]!r}"
    if b"Traceback" in ran.stderr or b"Exception ignored" in ran.stderr:
        return f"traceback: {shown}"
    return "" if ran.returncode == wanted else f"wrong code: {shown}"


def _stopped(command: str, rng: random.Random) -> str:
    """Ctrl-C at some moment between the start of our own code and the end."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", START.format(writing), *command.split()], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, pass_fds=[writing],
    )  # fmt: skip
    os.close(writing)
    os.read(reading, 1)  # ends as the other end is closed
    os.close(reading)
    moment = MOMENT + rng.random() * 0.3
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    shown = f"{command!r} after {moment:.3f} s ended with {process.returncode}: {err[-300:]!r}"
    if b"Traceback" in err or b"Exception ignored" in err:
        return f"traceback: {shown}"
    stopped = (130, -signal.SIGINT)  # by our handler, or by none: Python's own end takes it away
    return "" if process.returncode in (*stopped, COMMANDS[command]) else f"wrong code: {shown}"


if __name__ == "__main__":
    main(case)
