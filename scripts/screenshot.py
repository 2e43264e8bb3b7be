"""Takes the picture of a page that README.md shows.

    python scripts/screenshot.py [--check]

It needs a Chromium.  With ``--check`` nothing is written: the picture can be taken, and the one
that is there is as large.  Its bytes depend on the fonts of a machine.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from txcalc.page.html import page

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "page.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SIZE = 1360, 1180
FRAGMENT = "#model=gpt3&ctx=8192&batch=16&open=kvcache.sequence"


def taken(browser: str) -> bytes:
    """The picture of a page about GPT-3 and three others."""
    with tempfile.TemporaryDirectory() as folder:
        file, shot = Path(folder, "page.html"), Path(folder, "page.png")
        text, _ = page(["gpt3", "gpt2-small", "deepseek-v3", "gemma-3-27b-text"])
        file.write_text(text, encoding="utf-8")
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--window-size={SIZE[0]},{SIZE[1]}", "--virtual-time-budget=3000",
            f"--user-data-dir={folder}/profile", f"--screenshot={shot}",
            f"{file.as_uri()}{FRAGMENT}",
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return shot.read_bytes()


def size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG in pixels, as its first chunk states them."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


def main(arguments: list[str]) -> int:
    """Takes the picture, or with ``--check`` compares; 1 where it is stale, 2 without a browser."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if arguments not in ([], ["--check"]) or browser is None:
        print("no Chromium is found" if browser is None else __doc__, file=sys.stderr)
        return 2
    picture = taken(browser)
    if arguments:
        return 0 if PICTURE.exists() and size(PICTURE.read_bytes()) == size(picture) == SIZE else 1
    PICTURE.write_bytes(picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
