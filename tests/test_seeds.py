"""Every figure of the documents that txcalc grew from, through the command line."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import yaml

from tests.support.reckoning import Names, reckon
from tests.support.running import DATA, MODELS, answer, data, get, named
from txcalc.accounts import registry

SEEDS: list[dict[str, Any]] = yaml.safe_load((DATA / "seeds.yaml").read_text("utf-8"))
UNITS = {
    "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KiB": 2**10, "GiB": 2**30,
    "%": Fraction(1, 100),
}  # fmt: skip


class Figures(dict[str, Fraction]):
    """Names in a formula are addresses, each asked for when it is read."""

    def __init__(self, model: str, options: list[object]) -> None:
        super().__init__()
        self._model = model
        self._options = options

    def __contains__(self, address: object) -> bool:
        return True

    def __missing__(self, address: str) -> Fraction:
        return Fraction(get(self._model, address, *read_by(address, self._options)))


def read_by(address: str, options: list[object]) -> list[object]:
    """Those of some options, each with its value, that the account of an address reads."""
    reads = ("set", *registry.declared(registry.account_of(address)).reads)
    words: list[object] = []
    is_read = False
    for word in options:
        if str(word).startswith("--"):
            is_read = str(word).removeprefix("--").replace("-", "_") in reads
        words += [word] * is_read
    return words


def asked(row: dict[str, Any]) -> Fraction:
    """The figure that a row is about."""
    changes = [part for change in row.get("set", []) for part in ("--set", change)]
    names: Names = Figures(row["model"], [*changes, *row.get("options", [])])
    value = reckon(row["of"], names)
    return value / asked({**row, **row["over"], "over": None}) if row.get("over") else value


def agrees(value: Fraction, stated: str) -> bool:
    """Whether a value rounds to all the digits that were stated, a half either way."""
    digits, unit = stated.rstrip("kMGTKiB% "), stated.lstrip("0123456789. ")
    last = Fraction(Decimal(1).scaleb(Decimal(digits).as_tuple().exponent))  # type: ignore[arg-type]
    return abs(value / UNITS.get(unit, 1) - Fraction(digits)) * 2 <= last


@pytest.mark.parametrize("row", SEEDS, ids=lambda row: f"{row['doc']}-{row['id']}")
def test_a_stated_figure(row: dict[str, Any]) -> None:
    value = asked(row)
    if isinstance(row["value"], int):
        assert value == row["value"]
    else:
        assert agrees(value, row["value"])
    if "shown" in row:
        assert agrees(value, row["shown"])


def test_no_figure_is_stated_twice() -> None:
    ids = [row["id"] for row in SEEDS]
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("model", [name for name in MODELS if named(name).has_decoder])
def test_decode_has_an_intensity_of_one_at_any_size(model: str) -> None:
    assert get(model, "intensity.decode", "--ctx", 512) == 1


@pytest.mark.parametrize("d_model", [64, 512, 12288])
def test_the_ffn_holds_two_thirds_of_a_block_at_any_width(d_model: int) -> None:
    wide = ("--set", "n_heads=8", "--set", f"d_model={d_model}", "--set", f"d_ff={4 * d_model}")
    shares = [get("gpt2-small", f"params.block.{part}matmul", *wide) for part in ("ffn.", "")]
    assert Fraction(*map(int, shares)) == Fraction(2, 3)


def shapes(model: str, *options: object) -> dict[str, list[int]]:
    """Point -> shape."""
    (report,) = data("shapes", model, *options)
    return {row["address"].removeprefix("shapes.block."): row["value"] for row in report["rows"]}


def test_toys_shapes() -> None:
    points = shapes("toy", "--batch", 2, "--tokens", 4)
    stream = [2, 4, 64]
    at_stream = ("input", "norms.before_attention", "attention.o", "attention.sum",
                 "norms.before_ffn", "ffn.down", "ffn.sum")  # fmt: skip
    assert {point: points[point] for point in at_stream} == dict.fromkeys(at_stream, stream)
    assert [points[f"attention.{p}"] for p in "qkv"] == [[2, 4, 4, 16]] * 3
    assert points["attention.scores"] == [2, 4, 4, 4]
    assert points["attention.merged"] == stream
    assert points["ffn.up"] == [2, 4, 256]


def test_toys_shapes_are_in_the_order_of_the_pass() -> None:
    order = list(shapes("toy", "--batch", 2, "--tokens", 4))
    assert order == [
        "input", "norms.before_attention", "attention.q", "attention.k", "attention.v",
        "attention.scores", "attention.merged", "attention.o", "attention.sum",
        "norms.before_ffn", "ffn.up", "ffn.down", "ffn.sum",
    ]  # fmt: skip


def test_the_stream_is_left_and_rejoined_around_each_branch() -> None:
    lines = answer("shapes", "toy", "--batch", 2, "--tokens", 4).splitlines()
    marked = [tuple(line.split()[:: len(line.split()) - 1]) for line in lines
              if line.endswith(("leaves", "rejoins"))]  # fmt: skip
    assert marked == [
        ("attention.q", "leaves"), ("attention.sum", "rejoins"),
        ("ffn.up", "leaves"), ("ffn.sum", "rejoins"),
    ]  # fmt: skip


@pytest.mark.parametrize("block", ["encoder", "decoder"])
def test_transformer_bases_ffn_widens_and_narrows(block: str) -> None:
    points = shapes("transformer-base", "--batch", 1, "--tokens", 8)
    ffn = [shape for point, shape in points.items() if point.startswith(f"{block}.ffn.")]
    before = "cross_attention" if block == "decoder" else "attention"
    assert points[f"{block}.norms.after_{before}"] == [1, 8, 512]
    assert ffn[:2] == [[1, 8, 2048], [1, 8, 512]]
    assert points[f"{block}.norms.after_ffn"] == [1, 8, 512]


def test_the_documented_models_answer_where_none_is_named() -> None:
    reports = data("kvcache", "--ctx", 2048)
    sequence = {
        report["model"]: row["value"]
        for report in reports
        for row in report["rows"]
        if row["address"] == "kvcache.sequence"
    }
    assert list(sequence) == ["toy", "gpt2-small", "gpt3"]
    assert sequence["gpt3"] == 9663676416
    table = answer("kvcache", "--ctx", 2048)
    (line,) = [line for line in table.splitlines() if line.startswith(" sequence ")]
    assert line.endswith("9.00 GiB")
