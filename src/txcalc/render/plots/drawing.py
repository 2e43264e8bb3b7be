"""Pictures drawn by matplotlib, which is imported here alone and in an extra of its own."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Container
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from txcalc.errors import OptionError
from txcalc.page.palette import DARK, LIGHT, SERIF, Palette
from txcalc.render.plots.apart import apart
from txcalc.render.plots.picture import Axis, Bar, Bars, Curves, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Suffix = Literal["svg", "png", "pdf"]
TEXT, TITLE = 9.0, 14.0
"""Points of type."""
WIDTH, HEIGHT, ROW = 7.2, 4.2, 34
"""Inches of a picture, and points of a bar with its name above it."""
DASHES: tuple[Any, ...] = (
    "solid", (0, (6, 1.5)), (0, (2, 1.2)), (0, (7, 1.5, 1.5, 1.5)), (0, (4, 3)),
    (0, (1, 2)), (0, (9, 3)), (0, (5, 1.5, 1, 1.5, 1, 1.5)),
)  # fmt: skip
"""What tells lines apart where colours do not."""
FAMILY: dict[Suffix, str] = {"svg": "DejaVu Serif", "png": "STIXGeneral", "pdf": "STIXGeneral"}
"""Type that comes with matplotlib; a viewer of SVG has type of its own, no wider."""


class Paper(msgspec.Struct, frozen=True, kw_only=True):
    """What a picture is drawn on: inches, by default as it needs; dots an inch; and a theme."""

    size: tuple[float, float] | None = None
    dpi: int = 150
    dark: bool = False

    @property
    def palette(self) -> Palette:
        """The colours."""
        return DARK if self.dark else LIGHT


def drawn(picture: Picture, suffix: Suffix, paper: Paper, command: str) -> bytes:
    """A picture as a file, the same bytes for the same picture.

    Raises:
        OptionError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        raise OptionError("plots need matplotlib: install txcalc with its extra 'plot'") from None
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    style = {"font.family": FAMILY[suffix], "svg.fonttype": "none", "svg.hashsalt": "txcalc",
             "text.parse_math": False}  # fmt: skip
    out = BytesIO()
    with mpl.rc_context(mpl.rcParamsDefault | style), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name in a script that the type has no glyphs of
        figure_of(picture, paper).savefig(
            out, format=suffix, facecolor=paper.palette.paper, dpi=paper.dpi,
            metadata=_metadata(picture, suffix),
        )  # fmt: skip
    return _titled(out.getvalue(), picture, command) if suffix == "svg" else out.getvalue()


def figure_of(picture: Picture, paper: Paper) -> Figure:
    """The figure of a picture, laid out so that all of it has room."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=paper.size or _needed(picture), dpi=72)
    FigureCanvasAgg(figure)
    top = _headed(figure, picture, paper.palette)
    axes: Axes = figure.add_axes((0.1, 0.1, 0.8, top - 0.1))
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    _Drawing(figure, axes, paper.palette, top).draw(picture.drawn)
    return figure


class _Drawing:
    """One picture on its axes; lengths are in points."""

    def __init__(self, figure: Figure, axes: Axes, palette: Palette, top: float) -> None:
        self._figure, self._axes, self._palette = figure, axes, palette
        self._width, self._height = figure.get_size_inches() * 72
        self._top = top * self._height
        self._renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]

    def draw(self, drawn: Curves | Bars) -> None:
        """All of it."""
        if isinstance(drawn, Bars):
            self._bars(drawn)
        else:
            self._curves(drawn)

    def _curves(self, curves: Curves) -> None:
        axes = self._axes
        self._place(self._room(curves))
        self._sides(curves.x, curves.y)
        for area in curves.areas:
            xs, lower = zip(*area.lower, strict=True)
            axes.fill_between(
                xs, lower, [y for _, y in area.upper],
                color=self._palette.fills[area.tone], linewidth=0, alpha=0.9,
            )  # fmt: skip
        for i, line in enumerate(curves.lines):
            colour = self._palette.ink if line.tone is None else self._palette.inks[line.tone]
            [made] = axes.plot(*zip(*line.points, strict=True), color=colour, linewidth=1.6,
                               linestyle=DASHES[i % len(DASHES)], clip_on=False)  # fmt: skip
            made.set_gid(f"line-{i}")
        self._marks(curves)
        self._ends(curves)

    def _sides(self, x: Axis, y: Axis) -> None:
        axes, palette = self._axes, self._palette
        axes.set_xscale(x.scale)
        axes.set_yscale(y.scale)
        axes.set_xlim(*x.ends)
        axes.set_ylim(*y.ends)
        for side, given, lies in ((axes.xaxis, x, 0), (axes.yaxis, y, 1)):
            shown = self._thinned(given, lies)
            side.set_ticks(list(shown), labels=list(shown.values()))
            side.set_ticks([], minor=True)
        axes.tick_params(length=0, labelsize=TEXT, labelcolor=palette.muted, pad=5)
        axes.grid(axis="y", color=palette.grid, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.text(1, 0, x.title, transform=_below(axes, 2.6 * TEXT), ha="right", va="top",
                  color=palette.muted, fontsize=TEXT)  # fmt: skip

    def _thinned(self, axis: Axis, lies: int) -> dict[float, str]:
        """The numbers of an axis, across (0) or up (1), of which no two stand on each other."""
        ticks = {p: text for p, text in axis.ticks.items() if _is_within(p, axis.ends)}
        while len(ticks) > 1:
            points = [self._axes.transData.transform((p, p))[lies] for p in ticks]
            wides = [1.2 * TEXT if lies else self._wide(text) + 6 for text in ticks.values()]
            places = list(zip(points, wides, strict=True))
            if all(a + u / 2 <= b - v / 2 for (a, u), (b, v) in pairwise(places)):
                break
            ticks = dict(list(ticks.items())[::2])
        return ticks

    def _room(self, curves: Curves) -> tuple[float, float, float]:
        """Points left of the axes, right of them, and below."""
        left = max(map(self._wide, curves.y.ticks.values()), default=0.0)
        ends = [line.label for line in curves.lines] + [area.label for area in curves.areas]
        ends += [mark.label for mark in curves.marks if mark.x is None]
        right = max(map(self._wide, ends), default=0.0)
        last = max(map(self._wide, list(curves.x.ticks.values())[-1:]), default=0.0) / 2
        return 12 + left + 6, max(right + 12, last) + 14, 4.4 * TEXT

    def _place(self, room: tuple[float, float, float]) -> None:
        left, right, below = room
        if self._width - left - right < 100:
            raise OptionError("the names leave no room for the picture: a wider --size would do")
        self._axes.set_position(
            (
                left / self._width, below / self._height,
                (self._width - left - right) / self._width, (self._top - below) / self._height,
            )
        )  # fmt: skip

    def _marks(self, curves: Curves) -> None:
        axes, palette = self._axes, self._palette
        for mark in curves.marks:
            if mark.x is not None and mark.y is not None:
                axes.plot([mark.x], [mark.y], "o", color=palette.inks[mark.tone], markersize=6,
                          clip_on=False)  # fmt: skip
            elif mark.x is not None:
                axes.axvline(mark.x, color=palette.ink, linewidth=0.9, linestyle=(0, (1, 2)))
                axes.annotate(mark.label, (mark.x, 1), (0, 3), xycoords=("data", "axes fraction"),
                              textcoords="offset points", ha="center", va="bottom",
                              color=palette.ink, fontsize=TEXT)  # fmt: skip
            elif mark.y is not None:
                axes.axhline(mark.y, color=palette.ink, linewidth=0.9, linestyle=(0, (4, 2)))

    def _ends(self, curves: Curves) -> None:
        """Names right of what they name, moved apart where they would collide."""
        axes = self._axes
        named: list[tuple[str, float, str]] = []
        for line in curves.lines:
            colour = self._palette.ink if line.tone is None else self._palette.inks[line.tone]
            named.append((line.label, line.points[-1][1], colour))
        for area in curves.areas:
            middle = (area.lower[-1][1] + area.upper[-1][1]) / 2
            named.append((area.label, middle, self._palette.inks[area.tone]))
        named += [(m.label, m.y, self._palette.ink) for m in curves.marks if m.x is None and m.y]
        named = [name for name in named if name[0]]
        if not named:
            return
        x = axes.get_xlim()[1]
        at = [float(axes.transData.transform((x, y))[1]) for _, y, _ in named]
        below, above = axes.bbox.y0, axes.bbox.y1
        moved = apart(at, 1.25 * TEXT, (below + 0.4 * TEXT, above))
        for (label, _, colour), y, new in zip(named, at, moved, strict=True):
            if abs(new - y) > 1:
                self._leader(y, new, colour)
            axes.annotate(label, (1, (new - below) / (above - below)), (12, 0),
                          xycoords="axes fraction", textcoords="offset points", va="center",
                          color=colour, fontsize=TEXT)  # fmt: skip

    def _leader(self, y: float, new: float, colour: str) -> None:
        from matplotlib.lines import Line2D

        x = self._axes.bbox.x1
        xs, ys = [(x + i) / self._width for i in (2, 10)], [i / self._height for i in (y, new)]
        self._figure.add_artist(Line2D(xs, ys, color=colour, linewidth=0.6))

    def _bars(self, bars: Bars) -> None:
        axes, palette = self._axes, self._palette
        if (self._top - 2.6 * TEXT) / len(bars.bars) < ROW / 2:
            raise OptionError("the bars have no room for their names: a taller --size would do")
        left = max(self._wide(bar.label) for bar in bars.bars)
        right = max(self._wide(bar.note) for bar in bars.bars)
        self._place((18 + left, 24 + right, 2.6 * TEXT))
        axes.set_xlim(0, 1)
        axes.set_ylim(len(bars.bars) - 0.5, -0.9)
        axes.set_xticks([i / 5 for i in range(6)], [f"{20 * i}%" for i in range(6)])
        axes.set_yticks(range(len(bars.bars)), [bar.label for bar in bars.bars])
        axes.tick_params(length=0, labelsize=TEXT, labelcolor=palette.muted, pad=6)
        for i, bar in enumerate(bars.bars):
            start = 0.0
            for name, tone, share in bar.parts:
                [patch] = axes.barh(
                    [i], [share], left=[start], height=0.55, linewidth=0.8,
                    edgecolor=palette.paper, color=palette.fills[tone],
                )  # fmt: skip
                patch.set_gid(f"bar-{i}-{name.replace(' ', '-')}")
                start += share
            axes.annotate(bar.note, (1, i), (8, 0), xycoords=("axes fraction", "data"),
                          textcoords="offset points", va="center", color=palette.muted,
                          fontsize=TEXT)  # fmt: skip
        self._name_parts(bars)

    def _name_parts(self, bars: Bars) -> None:
        """The name of each part above the bar in which it is largest, where there is room."""
        largest: dict[str, tuple[float, int]] = {}
        for i, bar in enumerate(bars.bars):
            for name, _, share in bar.parts:
                largest[name] = max(largest.get(name, (0.0, 0)), (share, -i))
        for i, bar in enumerate(bars.bars):
            self._above(i, bar, {name for name, (_, row) in largest.items() if -row == i})

    def _above(self, row: int, bar: Bar, named: Container[str]) -> None:
        """Names above the parts of one bar, each right of the one before."""
        axes, width = self._axes, self._axes.bbox.width
        start = end = 0.0
        for name, tone, share in bar.parts:
            wide = self._wide(name)
            begin = max(end, (start + share / 2) * width - wide / 2)
            start += share
            if name in named and begin + wide <= width:
                axes.annotate(
                    name, (begin / width, row - 0.33), xycoords=("axes fraction", "data"),
                    color=self._palette.inks[tone], fontsize=TEXT, va="bottom",
                )  # fmt: skip
                end = begin + wide + 10

    def _wide(self, text: str) -> float:
        return _wide(self._renderer, text, TEXT)


def _needed(picture: Picture) -> tuple[float, float]:
    """Inches that a picture takes where no size is given: of many bars, more."""
    if isinstance(picture.drawn, Curves):
        return WIDTH, HEIGHT
    return WIDTH, max(HEIGHT, 1.4 + ROW / 72 * len(picture.drawn.bars))


def _headed(figure: Figure, picture: Picture, palette: Palette) -> float:
    """Draws title and subtitle, and says where the axes may end."""
    width, height = figure.get_size_inches() * 72
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    y = height - 12
    for text, size, colour in (
        (picture.title, TITLE, palette.ink), (picture.subtitle, TEXT, palette.muted),
    ):  # fmt: skip
        for line in _folded(renderer, text, size, width - 24):
            figure.text(12 / width, y / height, line, fontsize=size, color=colour, va="top")
            y -= 1.35 * size
        y -= 3
    return float((y - 1.6 * TEXT) / height)


def _folded(renderer: Any, text: str, size: float, width: float) -> list[str]:
    """A text as lines that are not wider than there is room."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if _wide(renderer, longer, size) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _wide(renderer: Any, text: str, size: float) -> float:
    from matplotlib.font_manager import FontProperties

    wide, _, _ = renderer.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(wide)


def _below(axes: Axes, points: float) -> Any:
    from matplotlib.transforms import ScaledTranslation

    figure: Any = axes.figure
    return axes.transAxes + ScaledTranslation(0, -points / 72, figure.dpi_scale_trans)


def _is_within(place: float, ends: tuple[float, float]) -> bool:
    return ends[0] * (1 - 1e-9) <= place <= ends[1] * (1 + 1e-9)


def _metadata(picture: Picture, suffix: Suffix) -> dict[str, Any]:
    """What a file says of itself, without the time at which it was written."""
    match suffix:
        case "svg":
            return {"Date": None, "Creator": None, "Format": None, "Type": None}
        case "png":
            return {"Title": picture.title, "Software": "txcalc"}
        case "pdf":
            return {"Title": picture.title, "Creator": "txcalc", "Producer": "matplotlib",
                    "CreationDate": None}  # fmt: skip


def _titled(svg: bytes, picture: Picture, command: str) -> bytes:
    """An SVG with its title, what it shows in words and numbers, and the command that made it."""
    from xml.sax.saxutils import escape

    names = ", ".join(name if name == "serif" else f"'{name}'" for name in SERIF)
    text = svg.decode("utf-8").replace(f"'{FAMILY['svg']}'", names)
    said = f"{picture.subtitle}\n{command}\n\n{picture.told}"
    head = (
        f'<title id="title">{escape(picture.title)}</title>\n'
        f' <desc id="desc">{escape(said)}</desc>\n'
    )
    start = text.index(">", text.index("<svg")) + 1
    opened = text[:start].removesuffix(">") + ' role="img" aria-labelledby="title desc">'
    return f"{opened}\n {head}{text[start:]}".encode()
