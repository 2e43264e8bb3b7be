"""A command and all that a process has around it: its streams, its exit code, its last words."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from typing import Any

from txcalc.cli.app import application
from txcalc.cli.output import emit, say
from txcalc.errors import TxcalcError

_ASKING = {"-h", "--help", "--version"}
"""Options that the parser answers itself."""


def run(words: Sequence[str]) -> int:
    """Carries out a command line, says what is wrong with it, and returns the exit code."""
    _open_streams()
    try:
        return _called([*words]) if words else _called(["-h"]) or 2
    except TxcalcError as error:
        return _failed(str(error), error.exit_code)
    except OSError as error:
        return _failed(f"{error.filename or 'a stream'}: {error.strerror or error}", 2)
    except Exception as error:
        if isinstance(getattr(error, "exit_code", None), int):
            return _failed_usage(error)
        problem = f"{type(error).__name__}: {error}"
        return _failed(f"a fault of txcalc itself, please report it: {problem}", 70)


def _open_streams() -> None:
    """Puts an empty stream in the place of one that the process was started without."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _called(words: list[str]) -> int:
    """The exit code of a command; what the parser itself answers is written as other answers."""
    said = StringIO()
    try:
        with redirect_stdout(said) if _ASKING & set(words) else nullcontext():
            code = application(words)(words, prog_name="txcalc", standalone_mode=False)
    finally:
        emit(said.getvalue(), [])
    return code or 0


def _failed_usage(error: Any) -> int:
    """A fault of the command line, in one line, as the parser words it."""
    message = error.format_message().rstrip(".")
    asked = getattr(error, "ctx", None)
    meant = _meant(getattr(error, "option_name", ""), asked)
    hint = f"; see '{asked.command_path} -h'" if asked else ""
    return _failed(f"{message}{meant}{hint}", error.exit_code)


def _meant(option: str, asked: Any) -> str:
    """The option whose value stands where an option should: ``--json`` for ``--format json``."""
    word = option.removeprefix("--")
    for parameter in asked.command.params if asked else ():
        if word in getattr(parameter.type, "choices", ()):
            return f"; did you mean {parameter.opts[0]} {word}?"
    return ""


def _failed(message: str, code: int) -> int:
    say(message)
    return code
