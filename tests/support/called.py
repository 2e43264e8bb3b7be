"""The entry point called within the test's own process."""

from __future__ import annotations

import signal

from txcalc.cli import main


def exit_code() -> int | str | None:
    """What ``main`` ends with; its handler of Ctrl-C, meant for a process, goes when it returns."""
    before = signal.getsignal(signal.SIGINT)
    try:
        main()
    except SystemExit as end:
        return end.code
    finally:
        signal.signal(signal.SIGINT, before)
    return 0
