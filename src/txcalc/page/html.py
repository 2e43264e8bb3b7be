"""The page: one file that holds its data, its scripts and its style, and asks for nothing else."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from typing import Any

from txcalc.accounts import registry
from txcalc.exact.quantity import Number
from txcalc.page.contents import ACCOUNTS, contents
from txcalc.page.palette import DARK, LIGHT, SERIF, Palette
from txcalc.report.format import plain
from txcalc.sources.devices import all_devices

SCRIPTS = ("engine.js", "chart.js", "state.js", "page.js")
_HALF = ("bf16", "fp16")

_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><span class="wordmark">txcalc</span><nav id="tabs" aria-label="models"></nav>\
<button type="button" id="theme">dark</button></header>
<main>
<div id="panel"></div>
<div id="right">
<h1 id="title"></h1>
<p id="source"></p>
<p class="run"><code id="command"></code><button type="button" id="copy">copy</button></p>
<div id="notices" role="status"></div>
<div id="figures">
<div id="lead"></div>
<section id="opened" aria-label="the opened figure">
<div><p id="address"></p><div id="formula" class="formula"></div><p id="result"></p>\
<dl id="legend"></dl></div>
<div><div id="over"></div><div id="along" class="chart"></div></div>
</section>
<div id="blocks"></div>
<section id="beside"><h3>Side by side</h3><table id="models"></table></section>
<section><h3>Every figure</h3>
<input id="filter" type="search" placeholder="attention, kvcache, prefill" aria-label="filter">
<table><tbody id="rows"></tbody></table></section>
</div>
<footer>Every number is exact: the derivations of txcalc run in this page. \
1 multiply-add = 2 FLOPs; GiB = 2^30 bytes.</footer>
</div>
</main>
<noscript>This page computes in the browser: it needs JavaScript.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def page(
    names: Sequence[str],
    changes: Sequence[str] = (),
    *,
    type_: str | None = None,
    strict: bool = False,
) -> tuple[str, list[str]]:
    """The page about some models, and what a reader may have to know of how they were read.

    Raises:
        TxcalcError: whatever one of the models is refused for.
    """
    models, warnings = [], []
    for name in names:
        model, said = contents(name, changes, type_=type_, strict=strict)
        models.append(model)
        warnings += said
    data = {
        "models": models,
        "reads": {account: registry.declared(account).reads for account in ACCOUNTS},
        "devices": list(_devices()),
    }
    return _assembled(data, ", ".join(model["called"] for model in models)), warnings


def _assembled(data: dict[str, Any], named: str) -> str:
    style = _style()
    script = 'const DATA = JSON.parse(document.getElementById("data").textContent);\n' + "\n".join(
        _file(name).replace('"use strict";\n', "") for name in SCRIPTS
    )
    script = f'"use strict";\n{script}'
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return _HTML.format(
        policy=policy,
        title=escape(f"{named} - txcalc"),
        style=style,
        script=script,
        data=text,
    )


def _devices() -> list[list[str]]:
    """Name, bytes of memory, bytes/s of bandwidth and FLOP/s of 16-bit products; 0 if unknown."""
    return [
        [device.name, *map(_exact, (device.memory, device.bandwidth, peak))]
        for device in all_devices()
        for peak in [next((device.peak(f) for f in _HALF if f in device.dense_tflops), 0)]
    ]


def _exact(value: Number) -> str:
    return plain(value.numerator if value.denominator == 1 else value, as_fraction=True)


def _style() -> str:
    serif = ",".join(name if name == "serif" else f'"{name}"' for name in SERIF)
    tones = "".join(
        f"span.{tone}{{background:var(--{tone})}}path.{tone}{{stroke:var(--{tone})}}"
        f"text.{tone}{{fill:var(--{tone}-ink)}}"
        for tone in LIGHT.fills
    )
    themes = f":root{{{_colours(LIGHT)}--serif:{serif}}}[data-theme=dark]{{{_colours(DARK)}}}"
    return f"{themes}\n{_file('page.css')}{tones}\n"


def _colours(palette: Palette) -> str:
    plain_ones = {name: getattr(palette, name) for name in ("paper", "ink", "muted", "grid")}
    inks = {f"{tone}-ink": colour for tone, colour in palette.inks.items()}
    colours = plain_ones | palette.fills | inks
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def _file(name: str) -> str:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
