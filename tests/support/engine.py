"""engine.js in QuickJS: the figures of a page's program, at any setting, beside Python's own."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import txcalc.page
from txcalc.errors import DescriptionError
from txcalc.exact.quantity import LARGEST, Number
from txcalc.model.model import Model
from txcalc.page.contents import asked, contents, figures_of, question_of
from txcalc.report.format import plain
from txcalc.sources.edits import unshared
from txcalc.sources.loading import built, read
from txcalc.workload.formats import NUMBERS

SCRIPT = Path(txcalc.page.__file__).with_name("engine.js")
FORMATS = {"dtype": "activation_bytes", "weights": "weight_bytes", "kv": "kv_bytes"}
"""The options that choose a format, and the letter of its bytes."""
LAYERS = ("n_layers", "layers.count", "encoder.count")
MOST_LAYERS = 10_000
"""Layers of a setting: Python lists them one by one where stages divide them."""
_ASKED = """
const programs = {};
function asked(name, texts) {
  const program = programs[name];
  const inputs = JSON.parse(texts).map(Engine.parsed);
  const values = Engine.run(program, inputs);
  const wrong = program.conditions.filter((each) => !Engine.holds(each, values));
  return JSON.stringify({
    problems: wrong.map((each) => [each[5], Engine.problem(each, values)]),
    figures: program.figures.map(([, , , node]) => Engine.exact(values[node])),
  });
}
"""

Figures = dict[tuple[str, str], str]
"""Address and phase -> the exact text of a figure."""


class Setting(NamedTuple):
    """Dimensions by the names of ``--set``, and options of the question."""

    sizes: Mapping[str, int]
    options: Mapping[str, Any]


class Answer(NamedTuple):
    """Figures, or what is wrong, as account and message; "" is the description."""

    figures: Figures
    problems: list[tuple[str, str]]


@cache
def context() -> Any:
    """One QuickJS with the engine in it."""
    quickjs = pytest.importorskip("quickjs")
    made = quickjs.Context()
    made.eval(SCRIPT.read_text("utf-8").replace("const Engine", "var Engine", 1))
    made.eval(_ASKED)
    return made


@cache
def data_of(name: str) -> dict[str, Any]:
    """The contents of a page about a model."""
    data, _ = contents(name)
    context().eval(f"programs[{json.dumps(name)}] = {json.dumps(data)}")
    return data


def in_engine(name: str, setting: Setting) -> Answer:
    """What the engine says at a setting."""
    data = data_of(name)
    given = setting.sizes | setting.options
    texts = []
    for key, value in data["inputs"]:
        option = next((o for o, letter in FORMATS.items() if letter == key and o in given), None)
        changed = value_of(given[option]) if option else given.get(key, value)
        texts.append(changed if isinstance(changed, str) else plain(changed, as_fraction=True))
    said = json.loads(context().get("asked")(name, json.dumps(texts)))
    rows = zip(data["figures"], said["figures"], strict=True)
    figures = {(row[0], row[1]): text for row, text in rows if not row[6]}
    return Answer(figures, [tuple(problem) for problem in said["problems"]])


def value_of(fmt: str) -> Number:
    """Bytes of one element in a flat format."""
    [piece] = NUMBERS[fmt].pieces
    return piece.bytes


def in_python(name: str, setting: Setting) -> Answer:
    """What Python says at a setting."""
    try:
        model = at(name, setting.sizes)
    except DescriptionError as error:
        return Answer({}, [("", str(error))])
    figures: Figures = {}
    for one in asked(model, question_of(model, **setting.options)):
        for address, figure in figures_of(one).items():
            figures[one.report.short(address), one.phase] = plain(figure.value, as_fraction=True)
    return Answer(figures, [])


@cache
def _read(name: str) -> tuple[Any, str]:
    tree, file, _ = read(name)
    return tree, file


def at(name: str, sizes: Mapping[str, int]) -> Model:
    """A model at some sizes."""
    tree, file = _read(name)
    return built(unshared(tree), file, [f"{n}={value}" for n, value in sizes.items()])


def check(name: str, setting: Setting) -> int:
    """That both say the same; how many figures they are."""
    ours, theirs = in_python(name, setting), in_engine(name, setting)
    of_description = [message for account, message in theirs.problems if not account]
    if ours.problems:
        assert of_description, (setting, ours.problems)
        assert of_description[0] in ours.problems[0][1]
        return 0
    assert not of_description, (setting, of_description)
    gone = {account for account, _ in theirs.problems}
    known = {key: v for key, v in theirs.figures.items() if key[0].partition(".")[0] not in gone}
    assert known.keys() == ours.figures.keys(), (setting, known.keys() ^ ours.figures.keys())
    for key, text in ours.figures.items():
        assert known[key] == text, (key, setting)
    return len(known)


def settings(name: str, seed: int, count: int) -> Sequence[Setting]:
    """Random settings: some letters moved a little, some far, formats and lengths chosen."""
    rng = random.Random(f"{name} {seed}")
    data = data_of(name)
    return [_setting(rng, data) for _ in range(count)]


def _setting(rng: random.Random, data: dict[str, Any]) -> Setting:
    names = [slider[0] for slider in data["sliders"]]
    own = {slider[0]: int(slider[3]) for slider in data["sliders"]}
    moved = rng.sample(names, rng.randint(0, min(4, len(names))))
    sizes = {n: _moved(rng, own[n]) for n in moved}
    sizes |= {n: min(size, MOST_LAYERS) for n, size in sizes.items() if n in LAYERS}
    options: dict[str, Any] = {
        letter: _moved(rng, int(own)) if rng.random() < 0.7 else int(own)
        for letter, own in data["question"].items()
    }
    for option in FORMATS:
        if rng.random() < 0.4:
            options[option] = rng.choice(["fp32", "fp16", "bf16", "fp8", "int8", "int4"])
    # What a page shows stands in all three options: the format of activations is no other's.
    chosen = options.get("dtype", "fp16")
    return Setting(sizes, {"weights": "fp16", "kv": "fp16", **options, "dtype": chosen})


def _moved(rng: random.Random, own: int) -> int:
    factor = rng.choice([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), Fraction(8)])
    return min(LARGEST, max(1, rng.choice([
        int(own * factor), own + rng.randint(-3, 3), rng.randint(1, 3 * own + 3),
        rng.randint(1, 40), int(10 ** rng.uniform(0, 15)), own,
    ])))  # fmt: skip
