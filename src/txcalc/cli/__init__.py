"""The command line: parse, ask, render."""

import os
import sys
from typing import Any, NoReturn

from txcalc.cli.app import application
from txcalc.errors import TxcalcError

__all__ = ["main"]


def main() -> NoReturn:
    """The entry point: exit code 2 for bad input, 130 after Ctrl-C, and never a traceback."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    words = sys.argv[1:] or ["-h"]
    try:
        done = application(words)(words, prog_name="txcalc", standalone_mode=False)
        raise SystemExit(done if sys.argv[1:] else 2)
    except TxcalcError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except Exception as error:
        if isinstance(getattr(error, "exit_code", None), int):
            _fail_usage(error)
        _fail(f"a fault of txcalc itself, please report it: {type(error).__name__}: {error}", 70)


def _fail_usage(error: Any) -> NoReturn:
    """A fault of the command line, in one line, as the parser words it."""
    message = error.format_message().rstrip(".")
    asked = getattr(error, "ctx", None)
    hint = f"; see '{asked.command_path} -h'" if asked else ""
    _fail(f"{message}{hint}", error.exit_code)


def _fail(message: str, code: int) -> NoReturn:
    print(f"txcalc: {message}", file=sys.stderr)
    raise SystemExit(code)
