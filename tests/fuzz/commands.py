"""The command line called many times in one process: what is built of a command is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any
from unittest import mock

from typer.main import get_command

from tests.support.running import Run, run
from txcalc.cli.app import COMMANDS, application

_HELP = ("-h", "--help")
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


def called(*words: str, encoding: str = "utf-8") -> Run:
    """``txcalc WORDS``."""
    with mock.patch("txcalc.cli.process.application", _kept):
        return run(*words, encoding=encoding)


def wrong(ran: Run, shown: str, codes: tuple[int, ...] = (0, 2)) -> str:
    """What is wrong with how a command ended, if anything; ``shown`` is what makes it again."""
    if "Traceback" in ran.err:
        return f"traceback: {shown}: {ran.err}"
    if ran.code not in codes or (ran.code == 2 and not (ran.out + ran.err)):
        return f"wrong code: {ran.code} {shown}: {ran.err[:300]}"
    if _OBEYED.search(ran.out + ran.err):
        return f"wrong code: a terminal obeys the answer to {shown}"
    return ""


def _kept(words: list[str]) -> Callable[..., Any]:
    name = next((word for word in words if not word.startswith("-")), "")
    return _built(name if name in COMMANDS else "", bool(words), bool(set(words) & set(_HELP)))


@cache
def _built(name: str, has_words: bool, is_help: bool) -> Callable[..., Any]:
    """The application for the words of a kind: it depends on nothing else of them."""
    words = [name or "-"] * has_words + ["-h"] * is_help
    return get_command(application(words))
