"""The command line: parse, ask, render."""

import os
import sys
from typing import Any, NoReturn

from txcalc.cli import commands as _commands
from txcalc.cli import tools as _tools
from txcalc.cli.app import app
from txcalc.errors import TxcalcError

__all__ = ["_commands", "_tools", "app", "main"]


def main() -> NoReturn:
    """The entry point: exit code 2 for bad input, 130 after Ctrl-C, and never a traceback."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    commands = app.registered_commands
    called = [command for command in commands if command.name in sys.argv[1:2]]
    # Building the parsers of all the other commands takes 6 ms.
    app.registered_commands = called or commands
    try:
        done = app(sys.argv[1:] or ["-h"], prog_name="txcalc", standalone_mode=False)
        raise SystemExit(done if sys.argv[1:] else 2)
    except TxcalcError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except Exception as error:
        if isinstance(getattr(error, "exit_code", None), int):
            _fail_usage(error)
        _fail(f"a fault of txcalc itself, please report it: {type(error).__name__}: {error}", 70)
    finally:
        app.registered_commands = commands


def _fail_usage(error: Any) -> NoReturn:
    """What the parser of the command line found wrong, in one line."""
    message = error.format_message().rstrip(".")
    asked = getattr(error, "ctx", None)
    hint = f"; see '{asked.command_path} -h'" if asked else ""
    _fail(f"{message}{hint}", error.exit_code)


def _fail(message: str, code: int) -> NoReturn:
    print(f"txcalc: {message}", file=sys.stderr)
    raise SystemExit(code)
