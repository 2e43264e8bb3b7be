"""The command line: parse, ask, render."""

import os
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """The entry point: exit code 2 for bad input, 130 after Ctrl-C, and never a traceback.

    Ctrl-C is seen to before anything large is imported: nothing has to be put in order before the
    end, except where a command says so.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from txcalc.cli.process import run

    raise SystemExit(run(sys.argv[1:]))
