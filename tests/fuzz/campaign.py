"""Campaigns of hostile inputs: ``--seed S --inputs N``, and figures at the end.

Each input has to end within a second of processor time and 100 MB, with an answer or with an error
of txcalc's own.  One that does not is printed with the seed of its own that makes it again.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.support.fuzz import MEGABYTES

SECONDS, GIVE_UP = 1.0, 20.0
"""Seconds of the processor, however busy the machine is."""
FAULTS = ("traceback", "hang", "wrong code", "memory")

Case = Callable[[random.Random], str]
"""Makes an input and gives it to txcalc: what is wrong with how that ended, beginning with one of
the faults; nothing where all is well.
"""


def main(case: Case) -> NoReturn:
    """Runs as many inputs as the command line says; the exit code says whether any ended badly."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inputs", type=int, default=1000)
    chosen = parser.parse_args()
    sys.exit(bool(campaign(case, chosen.seed, chosen.inputs)))


def campaign(case: Case, seed: int, inputs: int) -> int:
    """Prints what ended badly, and the figures; how many did."""
    signal.signal(signal.SIGPROF, _give_up)
    faults: Counter[str] = Counter()
    slowest, most = 0.0, peak()
    started = time.monotonic()
    for i in range(inputs):
        before = time.process_time()
        wrong = ended(case, f"{seed}/{i}")
        spent = time.process_time() - before
        slowest = max(slowest, spent)
        if not wrong and spent > SECONDS:
            wrong = f"hang: {spent:.1f} s"
        if not wrong and peak() - most > MEGABYTES:
            wrong, most = f"memory: {peak():.0f} MB after {most:.0f}", peak()
        if wrong:
            faults[wrong.partition(":")[0]] += 1
            print(f"--- {seed}/{i}\n{wrong}", flush=True)
    counted = ", ".join(f"{fault} {faults[fault]}" for fault in FAULTS)
    took = time.monotonic() - started
    print(f"seed {seed}, inputs {inputs:,}: {counted}; slowest {slowest:.2f} s, all {took:.0f} s")
    return faults.total()


def peak() -> float:
    """The most megabytes that this process has held."""
    status = Path("/proc/self/status").read_text("ascii")  # getrusage counts the parent's as well
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def forget_peak() -> None:
    """Makes :func:`peak` count anew."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")


def ended(case: Case, seed: str) -> str:
    """What is wrong with how the input of a seed ends, if anything."""
    signal.setitimer(signal.ITIMER_PROF, GIVE_UP)
    try:
        return case(random.Random(seed))
    except TimeoutError as error:
        return f"hang: {error}"
    except Exception:
        return f"traceback: {traceback.format_exc(limit=-4)}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _give_up(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"{GIVE_UP:.0f} s are over")
