"""Time and memory of inputs that double: ``python -m tests.fuzz.doubling``.

Descriptions of one kind of text each, up to a megabyte.  Each has to be read or refused within a
second, and twice the text must not take four times as long; with ``--kind`` only one is tried.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from tests.fuzz.campaign import forget_peak, peak
from tests.sources.test_bad_descriptions import GOOD
from tests.support.fuzz import MEGABYTES
from txcalc.errors import TxcalcError
from txcalc.sources import description, yaml

SECONDS = 1.0
SIZES = (125_000, 250_000, 500_000, 990_000)
QUADRATIC, MEASURABLE = 3.2, 0.1
"""How much longer the last doubling may take, and seconds below which that means nothing."""


def _repeated(start: str, piece: str, end: str = "") -> Callable[[int], str]:
    """A text with as many pieces, numbered where they want it, as fit in so many characters."""
    return lambda size: start + "".join(map(piece.format, range(size // len(piece)))) + end


KINDS: dict[str, Callable[[int], str]] = {
    "one key": _repeated(GOOD, "a: 1\n"),
    "keys": _repeated(GOOD, "key{}: 1\n"),
    "like names": _repeated(GOOD + "tensors:\n", "  a_tensor_{}: {{use: bias, dims: [3]}}\n"),
    "notes": _repeated(GOOD + "notes: [", "a, ", "]\n"),
    "layers": _repeated(GOOD.partition("[dense, sparse]")[0] + "[", "dense, ", "sparse]}\n"),
    "colons": _repeated("---\n", ": "),
    "lines of colons": _repeated("---\n", ":\n"),
    "questions": _repeated("", "? "),
    "pairs": _repeated("a: [", "a: b, ", "]\n"),
    "dashes": _repeated("", "- a\n"),
    "quotes": _repeated('"', "\\x41"),
    "folded": _repeated("a: >\n", " \n"),
    "words": _repeated("a: b\n", " c\n"),
    "tags": _repeated("a: ", "!"),
    "factors": _repeated(GOOD.partition("[d_ff, d_model]")[0] + "[", "2*", "2, 2]}}\n"),
    "digits": _repeated("a: ", "9"),
    **{
        f"directives after {end!r}": _repeated(f"#{end}", f"%TAG !e{{}}! tag:a,2000:{end}", "---\n")
        for end in ("\n", "\r", "\x85", "\u2028")
    },
}


def seconds(text: str) -> float:
    """Processor time in which a description is read or refused."""
    started = time.process_time()
    with suppress(TxcalcError):
        description.build(yaml.parse(text, "text"), "text")
    return time.process_time() - started


def main() -> int:
    """Prints a line a kind; how many are too slow or too large."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=list(KINDS))
    chosen = parser.parse_args().kind
    bad = 0
    for kind in [chosen] if chosen else KINDS:
        forget_peak()
        before = peak()
        times = [seconds(KINDS[kind](size)) for size in SIZES]
        grown = peak() - before
        is_quadratic = times[-1] > max(MEASURABLE, QUADRATIC * times[-2])
        wrong = times[-1] > SECONDS or grown > MEGABYTES or is_quadratic
        bad += wrong
        shown = "  ".join(f"{spent:.3f}" for spent in times)
        print(f"{kind:26} {shown} s  {grown:4.0f} MB{'  BAD' if wrong else ''}", flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(bool(main()))
