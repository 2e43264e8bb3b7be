"""Plots: the numbers in them, names that do not collide, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.running import BUNDLED, answer, get, named, run
from txcalc.page.palette import DARK, LIGHT, Palette
from txcalc.render.plots.apart import apart
from txcalc.render.plots.drawing import Paper, figure_of
from txcalc.render.plots.swept import swept
from txcalc.render.plots.ticks import axis
from txcalc.sweeps.axes import axes
from txcalc.sweeps.sweep import Sweep

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to write to, where matplotlib is there to draw."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def drawn(*words: object) -> ElementTree.Element:
    """The SVG of a plot."""
    assert answer("plot", *words, "-o", "plot.svg") == "plot.svg\n"
    return ElementTree.parse("plot.svg").getroot()


def vertices(svg: ElementTree.Element, gid: str) -> list[tuple[float, float]]:
    """The points of a line, in the units of the picture."""
    [path] = svg.findall(f".//{SVG}g[@id='{gid}']/{SVG}path")
    return [(float(x), float(y)) for x, y in re.findall(r"[ML] (\S+) (\S+)", path.attrib["d"])]


def places(values: list[float], *, is_log: bool) -> list[float]:
    return [math.log(value) for value in values] if is_log else values


def check_line(found: list[float], values: list[float], *, is_log: bool) -> None:
    """Places on paper are values up to a scale and an origin."""
    at = places(values, is_log=is_log)
    low, high = at.index(min(at)), at.index(max(at))
    scale = (found[high] - found[low]) / ((at[high] - at[low]) or 1)
    for place, value in zip(found, at, strict=True):
        assert place == pytest.approx(found[low] + scale * (value - at[low]), abs=1e-4)


@pytest.mark.parametrize(
    ("words", "is_log"),
    [
        (("gpt3", "kvcache.sequence", "--over", "ctx=512:131072:x2"), True),
        (("gpt3", "flops.total", "--over", "ctx=100:3000:+100", "--phase", "prefill"), False),
        (("mixtral-8x7b", "intensity.decode", "--over", "batch=1:64:x2"), True),
        (("gpt2-small", "params.total", "--over", "n_layers=1,7,30"), False),
    ],
)
def test_the_numbers_of_a_plot_are_those_of_a_sweep(
    folder: Path, words: tuple[str, ...], is_log: bool
) -> None:
    svg, text = drawn("sweep", *words), answer("sweep", *words, "--format", "csv")
    said = svg.findtext(f"{SVG}desc") or ""
    assert said.partition("\n\n")[2].replace("\r", "") == text
    rows = [tuple(map(float, row)) for row in list(csv.reader(io.StringIO(text)))[1:]]
    line = vertices(svg, "line-0")
    for i in (0, 1):
        check_line([p[i] for p in line], [row[i] for row in rows], is_log=is_log)


def test_the_parts_of_a_bar_are_shares_of_the_parameters(folder: Path) -> None:
    svg = drawn("params", "gpt2-small", "gpt3")
    said = (svg.findtext(f"{SVG}desc") or "").partition("\n\n")[2]
    names, *rows = csv.reader(io.StringIO(said))
    for i, (model, *counts) in enumerate(rows):
        assert sum(map(int, counts)) == get(model, "params.total")
        assert int(counts[0]) == get(model, "params.embedding")
        widths = {}
        for name in names[1:]:
            found = svg.findall(f".//{SVG}g[@id='bar-{i}-{name.replace(' ', '-')}']/{SVG}path")
            xs = [float(x) for path in found for x in re.findall(r"[ML] (\S+)", path.attrib["d"])]
            widths[name] = max(xs) - min(xs) if xs else 0
        whole = sum(widths.values())
        for name, count in zip(names[1:], counts, strict=True):
            share = int(count) / sum(map(int, counts))
            assert widths[name] / whole == pytest.approx(share, abs=1e-5)


def test_memory_is_marked_where_the_caches_outweigh_the_weights(folder: Path) -> None:
    """37 sequences of 2,048 tokens for GPT-3: weights over one cache are 36.14."""
    svg = drawn("memory", "gpt3", "--ctx", "2048", "--device", "h100-sxm")
    texts = [text.text for text in svg.iter(f"{SVG}text")]
    assert "37" in texts
    assert "h100-sxm: 79.18 GiB" in texts
    said = svg.findtext(f"{SVG}desc") or ""
    assert "kvcache.sequence,9663676416\n" in said
    assert "txcalc plot memory gpt3 --ctx 2048 --device h100-sxm -o plot.svg" in said


SWEEPS = (
    ("kvcache.sequence", "ctx=512:131072:x2"),
    ("flops.total", "ctx=512:8192:+512"),
    ("params.total", "vocab=1,1000000000000000"),
    ("intensity.decode", "batch=1:1024:x2"),
)
DECODERS = [name for name in BUNDLED if named(name).has_decoder and named(name).context][::2][:30]


@pytest.mark.parametrize(("address", "over"), SWEEPS)
def test_no_two_names_stand_on_each_other(folder: Path, address: str, over: str) -> None:
    for i in range(0, len(DECODERS), 8):
        models = f"model={','.join(DECODERS[i : i + 8])}"
        check_apart(swept(Sweep("", [address], axes([models, over])), {}))


def check_apart(picture: Any) -> None:
    from matplotlib.text import Text

    figure = figure_of(picture, Paper())
    figure.draw_without_rendering()
    boxes = [
        (text.get_text(), text.get_window_extent())
        for text in figure.findobj(Text)
        if text.get_text() and text.get_visible()
    ]
    labels = [line.label for line in picture.drawn.lines]
    assert set(labels) <= {text for text, _ in boxes}
    for (a, one), (b, other) in combinations(boxes, 2):
        across = min(one.x1, other.x1) - max(one.x0, other.x0)
        along = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(across, along) < 1, (a, b)
    width, height = figure.get_size_inches() * 72
    assert all(box.x0 > 0 and box.x1 < width for _, box in boxes)
    assert all(box.y0 > 0 and box.y1 < height for _, box in boxes)


@given(
    st.lists(st.floats(0, 100), min_size=1, max_size=8),
    st.floats(0.1, 10),
)
def test_names_are_moved_apart_and_kept_in_order(at: list[float], gap: float) -> None:
    moved = apart(at, gap, (0, 100))
    order = sorted(range(len(at)), key=lambda i: (at[i], i))
    spread = [moved[i] for i in order]
    assert all(b - a >= gap - 1e-6 for a, b in pairwise(spread))
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in moved)
    if all(b - a >= gap for a, b in pairwise(sorted(at))):
        assert moved == pytest.approx(at)


def test_bytes_stand_in_powers_of_two() -> None:
    assert list(axis([512.0, 2.0**40], "bytes", "log").ticks.values())[-1].endswith("iB")
    assert list(axis([0.0, 3 * 2.0**30], "bytes", "linear").ticks.values())[:3] == [
        "0 B", "512 MiB", "1 GiB",
    ]  # fmt: skip


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_same_command_writes_the_same_bytes(folder: Path, ending: str) -> None:
    first, second = (_written(ending) for _ in range(2))
    assert first == second


def _written(ending: str) -> bytes:
    answer("plot", "params", "gpt3", "--dark", "-o", f"a.{ending}")
    return Path(f"a.{ending}").read_bytes()


def test_a_file_that_is_no_picture_stays(folder: Path) -> None:
    Path("notes.svg").write_text("notes\n")
    ran = run("plot", "params", "gpt3", "-o", "notes.svg")
    assert (ran.code, ran.out) == (2, "")
    assert "no picture; it is left as it is" in ran.err
    assert Path("notes.svg").read_text() == "notes\n"
    assert [path.name for path in folder.iterdir()] == ["notes.svg"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sweep gpt3 params.total --over vocab=1:9 -o a.gif", "svg, png, pdf"),
        ("sweep params.total --over model=gpt3,toy -o a.svg", "an axis of numbers"),
        ("sweep gpt3 params.total --over ctx=1:9 -o a.svg", "changes nothing here"),
        (
            "sweep gpt3 flops.total --over n_layers=1:9 --over ctx=1:9 -o a.svg",
            "9 lines are too many",
        ),
        (
            "sweep gpt3 flops.total kvcache.total --over ctx=1:9 -o a.svg",
            "FLOPs and bytes do not stand on one axis",
        ),
        ("memory roberta-base -o a.svg", "encoder-only"),
        ("params gpt3 -o a.svg --size 1x1", "inches from 2 to 60"),
        ("params gpt3 -o none/a.svg", "cannot be written"),
    ],
)
def test_what_cannot_be_drawn_is_refused(folder: Path, words: str, said: str) -> None:
    ran = run("plot", *words.split())
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert said in ran.err
    assert not list(folder.iterdir())


def test_names_of_models_are_no_markup(folder: Path) -> None:
    name = "a$x$<b>&\"'"
    tree = Path("odd.yaml")
    tree.write_text(answer("import", "toy").replace("name: toy", f"name: {json.dumps(name)}"))
    svg = drawn("params", "odd.yaml")
    assert name in [text.text for text in svg.iter(f"{SVG}text")]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_stands_out_from_the_paper(palette: Palette) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
    for colour in (palette.ink, palette.muted, *palette.inks.values()):
        light, dark = sorted((_luminance(colour), _luminance(palette.paper)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_curves_have_no_more_lines_than_dashes() -> None:
    from txcalc.render.plots.drawing import DASHES
    from txcalc.render.plots.swept import MOST_LINES

    assert len(set(map(str, DASHES))) >= MOST_LINES
