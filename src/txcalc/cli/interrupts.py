"""Signals that end a program: raised, or put off while it does what must not be half done."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def put_off() -> Iterator[None]:
    """Around an act that is finished first; then the first signal does what it does otherwise."""
    came: list[int] = []
    numbers = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    handlers = {n: signal.signal(n, lambda number, _: came.append(number)) for n in numbers}
    try:
        yield
    finally:
        for number, handler in reversed(handlers.items()):
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def raised() -> Iterator[None]:
    """Around an act that has to put something in order after Ctrl-C: a KeyboardInterrupt in it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
