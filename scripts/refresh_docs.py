"""Makes README.md and docs/ say what txcalc does now: examples, tables and pictures.

    python scripts/refresh_docs.py [--check]

Pages are README.md and docs/*.md.  Tables between marks are those of ``reference.py``.  Examples
are the lines that begin with ``$ `` in ``console`` blocks; they run in an empty folder that holds
the page's own model files: blocks marked ``json NAME``, or that begin with ``# NAME.yaml``.  The
txcalc that is asked is the one installed beside the Python that runs this script.  With
``--check`` nothing is written, and what is stale ends in exit code 1.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PICTURES = {ROOT / "docs" / "concurrency.svg": "txcalc concurrency gpt3"}
WIDTH = 80

_BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_TABLE = re.compile(r"(?<=^<!-- )(\w+) -->\n.*?(?=^<!-- end of \1 -->$)", re.MULTILINE | re.DOTALL)
_REMOTE_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_SVG_TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)


def examples(page: str) -> Iterator[tuple[str, str]]:
    """Every command of a page and the output that stands below it."""
    for block in _BLOCK.finditer(page):
        if block["kind"] == "console":
            for example in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                command, _, output = example.partition("\n")
                yield command, output


def write_files(page: str, folder: Path) -> None:
    """Puts the page's model files into a folder."""
    for block in _BLOCK.finditer(page):
        comment = re.match(r"# (\S+\.yaml)\n", block["body"])
        name = block["file"] or (comment and comment[1])
        if name:
            (folder / name).write_text(block["body"], encoding="utf-8")


def run(command: str, folder: Path) -> str:
    """What a command prints to a pipe, warnings and errors included."""
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=_environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
    )  # fmt: skip
    return done.stdout.decode("utf-8")


def tabulated(page: str) -> str:
    """The page with every table between marks as the program tells it now."""
    return _TABLE.sub(lambda table: f"{table[1]} -->\n{reference.TABLES[table[1]]()}", page)


def refreshed(page: str, folder: Path) -> str:
    """The page with every table and output as it is now."""

    def again(block: re.Match[str]) -> str:
        if block["kind"] != "console":
            return block[0]
        body = "".join(f"$ {command}\n{run(command, folder)}" for command, _ in examples(block[0]))
        return f"```console\n{body}```"

    write_files(page, folder)
    return _BLOCK.sub(again, tabulated(page))


def picture(command: str, folder: Path) -> str:
    """What a command shows on a terminal of 80 columns, as an SVG."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text(f"$ {command}"))
    console.print(Text.from_ansi(_on_terminal(command, folder)))
    svg = _REMOTE_FONTS.sub("", console.export_svg(title=command))
    return svg.replace("<svg ", '<svg xml:space="preserve" ', 1)


def shown(svg: str) -> list[str]:
    """The texts of an SVG: what a picture says, however a release of rich draws it."""
    return _SVG_TEXT.findall(svg)


def _on_terminal(command: str, folder: Path) -> str:
    ours, theirs = os.openpty()
    size = {"COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    with subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=folder, env=_environment() | size,
        stdin=theirs, stdout=theirs, stderr=theirs,
    ):  # fmt: skip
        os.close(theirs)
        raw = b""
        try:
            while chunk := os.read(ours, 65536):
                raw += chunk
        except OSError:  # Linux tells the end of a terminal like this
            pass
    os.close(ours)
    return raw.decode("utf-8").replace("\r\n", "\n")


def _environment() -> dict[str, str]:
    """Little of ours: no colour settings, and our own txcalc first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    kept = {name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ}
    return kept | {"PATH": path, "PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"}


def now() -> dict[Path, str]:
    """Every page and picture as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        pages = {page: refreshed(page.read_text(encoding="utf-8"), Path(folder)) for page in PAGES}
        pictures = {path: picture(command, Path(folder)) for path, command in PICTURES.items()}
    return pages | pictures


def stale(path: Path, text: str) -> list[str]:
    """Where a file differs from what it should be; of a picture, what it says counts."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = shown if path.suffix == ".svg" else str.splitlines
    return list(difflib.unified_diff(lines(before), lines(text), path.name, "now"))


def main(arguments: list[str]) -> int:
    """Refreshes, or with ``--check`` compares; 1 where something is stale or txcalc broken."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    texts = now()
    if any("Traceback (most recent call last)" in text for text in texts.values()):
        print("txcalc is broken; nothing was written", file=sys.stderr)
        return 1
    differences = [line for path, text in texts.items() for line in stale(path, text)]
    if arguments:
        print("\n".join(differences) or "every example and picture is up to date")
        return 1 if differences else 0
    for path, text in texts.items():
        if stale(path, text):
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
