"""Brings README.md and docs/ up to date: examples, tables and pictures.

    python scripts/refresh_docs.py [--check]

Tables between marks are those of ``reference.py``, examples those of ``examples.py``.  With
``--check`` nothing is written; what is stale, and every link that leads nowhere, is printed and
ends in exit code 1.
"""

import difflib
import importlib.util
import re
import sys
import tempfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import examples
import links
import reference

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
PICTURES = {ROOT / "docs" / "concurrency.svg": "txcalc concurrency gpt3"}
PLOTS = {
    ROOT / "docs" / "cache.svg": (
        "txcalc plot sweep kvcache.sequence --over ctx=512:128Ki:x2 "
        "--over model=gpt3,llama-3.1-70b,gemma-3-27b-text,deepseek-v3 -o cache.svg"
    )
}
"""Drawn by matplotlib: of an installation without it they are left as they are."""

_TABLE = re.compile(r"(?<=^<!-- )(\w+) -->\n.*?(?=^<!-- end of \1 -->$)", re.MULTILINE | re.DOTALL)
_REMOTE_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_SVG_TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)


def tabulated(page: str) -> str:
    """The page with every table between marks as the program has it now."""
    return _TABLE.sub(lambda table: f"{table[1]} -->\n{reference.TABLES[table[1]]()}", page)


def picture(command: str, folder: Path) -> str:
    """What a command shows on a terminal, as an SVG."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=examples.WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text(f"$ {command}"))
    console.print(Text.from_ansi(examples.on_terminal(command, folder)))
    svg = _REMOTE_FONTS.sub("", console.export_svg(title=command))
    return svg.replace("<svg ", '<svg xml:space="preserve" ', 1)


def shown(svg: str) -> list[str]:
    """The texts of an SVG: what a picture says, however a release of rich draws it."""
    return _SVG_TEXT.findall(svg)


def now() -> Iterator[tuple[Path, str]]:
    """Every page and picture as it should be."""
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            text = tabulated(page.read_text(encoding="utf-8"))
            yield page, examples.refreshed(text, Path(folder))
    for path, command in PICTURES.items():
        yield path, picture(command, ROOT)
    for path, command in PLOTS.items() if importlib.util.find_spec("matplotlib") else ():
        with tempfile.TemporaryDirectory() as folder:
            examples.on_terminal(command, Path(folder))
            yield path, Path(folder, path.name).read_text(encoding="utf-8")


def stale(path: Path, text: str) -> list[str]:
    """Where a file differs from what it should be; of a picture of a terminal, what it says."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = shown if path in PICTURES else str.splitlines
    return list(difflib.unified_diff(lines(before), lines(text), path.name, "now", lineterm=""))


def main(arguments: list[str]) -> int:
    """Refreshes, or with ``--check`` compares; 1 where something is stale or a link is dead."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    texts = {path: text for path, text in now() if stale(path, text)}
    if arguments:
        wrong = [line for path, text in texts.items() for line in stale(path, text)]
        wrong += [line for page in PAGES for line in links.dead(page)]
        print("\n".join(wrong) or "every example, table, picture and link is up to date")
        return 1 if wrong else 0
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
