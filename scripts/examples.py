"""The examples of a page, and what they print now.

An example is a line of a ``console`` block that begins with ``$ ``, with the output below it, or
one whole ``pycon`` block, which needs nothing of the blocks before it.  Examples run in a folder
that holds the page's own files: blocks marked ``json NAME``, or that begin with ``# NAME.yaml``.
txcalc is called in this process, by the entry point of its command line; only a command that needs
a shell has one, with the txcalc that is installed beside this Python.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple
from unittest import mock

WIDTH = 80

_BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_COMMAND = re.compile(r"^\$ .*\n(?:(?!\$ ).*\n)*", re.MULTILINE)
_STATEMENT = re.compile(r"^>>> .*\n(?:\.\.\..*\n)*", re.MULTILINE)
_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?", re.MULTILINE)
_ECHO = '; echo "exit code $?"'
_FOR_A_SHELL = re.compile(r"[|&;<>$*?~`]")
_BROKEN = ("Traceback (most recent call last)", "a fault of txcalc itself")


class Example(NamedTuple):
    """A command or the statements of a block, the page's text of it, and the line it begins at."""

    code: str
    text: str
    line: int


def examples(page: str) -> Iterator[Example]:
    """Every example of a page."""
    for block in _BLOCK.finditer(page):
        yield from _of_block(block)


def write_files(page: str, folder: Path) -> None:
    """Puts the page's own files into a folder."""
    for block in _BLOCK.finditer(page):
        comment = re.match(r"# (\S+\.yaml)\n", block["body"])
        name = block["file"] or (comment and comment[1])
        if name:
            (folder / name).write_text(block["body"], encoding="utf-8")


def refreshed(page: str, folder: Path) -> str:
    """The page with every example as it is now."""

    def again(block: re.Match[str]) -> str:
        texts = [now(example, folder) for example in _of_block(block)]
        return f"```{block['kind']}\n{''.join(texts)}```" if texts else block[0]

    write_files(page, folder)
    return _BLOCK.sub(again, page)


def now(example: Example, folder: Path) -> str:
    """The text of an example as it should be.

    Raises:
        RuntimeError: a command that ends in a fault of txcalc.
    """
    if example.code.startswith(">>> "):
        return _session(example.code, folder)
    output = printed(example.code, folder)
    if any(words in output for words in _BROKEN):
        raise RuntimeError(f"{example.code}\n{output}")
    return f"$ {example.code}\n{output}"


def printed(command: str, folder: Path) -> str:
    """What a command prints to a pipe, warnings and errors included."""
    asked = command.removesuffix(_ECHO)
    if not asked.startswith("txcalc ") or _FOR_A_SHELL.search(asked):
        return _by_shell(command, folder)
    with _caught(folder) as stream:
        code = call(shlex.split(asked)[1:])
        if asked != command:
            print(f"exit code {code}")
    return _written(stream)


def on_terminal(command: str, folder: Path) -> str:
    """What a txcalc command prints to a terminal."""
    with _caught(folder, _Terminal) as stream:
        call(shlex.split(command)[1:])
    return _written(stream)


def call(arguments: Sequence[str]) -> int:
    """The exit code of ``txcalc ARGUMENTS``."""
    from txcalc.cli import main

    with mock.patch.object(sys, "argv", ["txcalc", *arguments]):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)


def _of_block(block: re.Match[str]) -> Iterator[Example]:
    first = block.string.count("\n", 0, block.start("body")) + 1
    match block["kind"]:
        case "console":
            for text in _COMMAND.finditer(block["body"]):
                line = first + block["body"].count("\n", 0, text.start())
                yield Example(text[0].partition("\n")[0].removeprefix("$ "), text[0], line)
        case "pycon":
            statements = "".join(_STATEMENT.findall(block["body"]))
            yield Example(statements, block["body"], first)


def _session(statements: str, folder: Path) -> str:
    """Statements as an interactive Python shows them."""
    names = {"__name__": "__main__"}
    with _caught(folder) as stream:
        for statement in _STATEMENT.findall(statements):
            sys.stdout.write(statement)
            exec(compile(_PROMPT.sub("", statement), "<example>", "single"), names)
    return _written(stream)


def _by_shell(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=_environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
    )  # fmt: skip
    return done.stdout.decode("utf-8")


class _Terminal(TextIOWrapper):
    def isatty(self) -> bool:
        return True


@contextmanager
def _caught(folder: Path, kind: type[TextIOWrapper] = TextIOWrapper) -> Iterator[TextIOWrapper]:
    """Runs what is inside in a folder, with nothing to read and both outputs in one stream."""
    stream = kind(BytesIO(), "utf-8", newline="", write_through=True)
    with (
        chdir(folder),
        mock.patch.dict(os.environ, _environment(), clear=True),
        mock.patch.object(sys, "stdin", TextIOWrapper(BytesIO())),
        redirect_stdout(stream),
        redirect_stderr(stream),
    ):
        yield stream


def _written(stream: TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, BytesIO)
    return buffer.getvalue().decode("utf-8")


def _environment() -> dict[str, str]:
    """An environment without colour settings, with our own txcalc first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    kept = {name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ}
    fixed = {"COLUMNS": str(WIDTH), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    return kept | fixed | {"PATH": path, "PYTHONIOENCODING": "utf-8"}
