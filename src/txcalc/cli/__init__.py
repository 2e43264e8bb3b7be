"""The command line: parse, ask, render."""

import sys
from typing import NoReturn

from txcalc.cli import commands, tools
from txcalc.cli.app import app
from txcalc.errors import TxcalcError

__all__ = ["app", "commands", "main", "tools"]


def main() -> NoReturn:
    """The entry point: exit code 2 for bad input, 130 after Ctrl-C, and never a traceback."""
    _keep_only(sys.argv[1:2])
    try:
        app(prog_name="txcalc")
    except TxcalcError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except Exception as error:
        _fail(f"a fault of txcalc itself, please report it: {type(error).__name__}: {error}", 70)
    raise SystemExit(0)


def _keep_only(named: list[str]) -> None:
    """Leaves the app the one command that is called: building all the others takes 6 ms."""
    called = [c for c in app.registered_commands if c.name in named]
    if called:
        app.registered_commands = called


def _fail(message: str, code: int) -> NoReturn:
    print(f"txcalc: {message}", file=sys.stderr)
    raise SystemExit(code)
