"""What a terminal of some width is shown, without a process or a terminal."""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from tests.support.called import exit_code

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def shown(*arguments: object, columns: int) -> str:
    """The text of ``txcalc ARGUMENTS`` in so many columns, without its colours."""
    return _STYLE.sub("", coloured(*arguments, columns=columns))


def coloured(*arguments: object, columns: int = 80, ends_with: int = 0) -> str:
    """The same with its colours, of a command that may fail."""
    out = _Terminal(io.BytesIO(), "utf-8", newline="")
    environment = {"COLUMNS": str(columns), "TERM": "xterm"}
    argv = ["txcalc", *map(str, arguments)]
    with (
        mock.patch.dict(os.environ, environment),
        mock.patch.object(sys, "argv", argv),
        redirect_stdout(out),
        redirect_stderr(io.StringIO()) as err,
    ):
        code = exit_code()
    assert (code or 0) == ends_with, err.getvalue()
    out.flush()
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")
