"""Pages in a headless Chromium, driven by a script of the test inside them."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

_DRIVER = """
<pre id="said"></pre><script>
const errors = [];
let drawn = 12345;
const rng = (n) => (drawn = (drawn * 1103515245 + 12345) % 2147483648) % n;
addEventListener("error", (event) => errors.push(String(event.message)));
const said = { errors };
const sliders = () => [...document.querySelectorAll("#panel input[type=range]")];
function move() {
  const slider = sliders()[rng(sliders().length)];
  slider.value = rng(241);
  const start = performance.now();
  slider.dispatchEvent(new Event("input"));
  return performance.now() - start;
}
const text = (id) => document.getElementById(id).textContent;
(() => { try { ACT } catch (error) { errors.push(String(error.stack)); } })();
said.requests = performance.getEntriesByType("resource").length;
document.getElementById("said").textContent = JSON.stringify(said);
</script></body>"""


def browser() -> str:
    """The browser there is, or ""."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), "")


def driven(page: str, act: str, folder: Path, fragment: str = "", width: int = 1360) -> Any:
    """What a script ``act`` puts into ``said`` after it has run in a page."""
    file = folder / "driven.html"
    free = re.sub(r"<meta http-equiv=.*?>\n", "", page)
    file.write_text(free.replace("</body>", _DRIVER.replace("ACT", act)), "utf-8")
    ran = subprocess.run(
        [
            browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900",
            "--virtual-time-budget=2000", f"--user-data-dir={folder / 'profile'}", "--dump-dom",
            f"{file.as_uri()}{fragment}",
        ],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    found = re.search(r'<pre id="said">(.*?)</pre>', ran.stdout, re.DOTALL)
    assert found is not None, ran.stdout[-500:]
    return json.loads(html.unescape(found[1]))
