"""Tables, JSON, CSV and Markdown show the same figures."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.counting import Tree
from tests.support.describing import descriptions
from tests.support.printed import in_csv, in_json, in_markdown, in_table
from tests.support.running import MODELS, named, save

BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
DECODERS = [name for name in MODELS if named(name).has_decoder]
VARIED = ("toy", "gpt3", "bart-base", "roberta-base", "transformer-base")
GENERATING = [name for name in VARIED if name in DECODERS]
COMMANDS = [
    *(("params", name) for name in VARIED),
    *(("flops", name, "--phase", "prefill", "--scores", "causal") for name in VARIED),
    *((command, name) for command in ("kvcache", "concurrency") for name in GENERATING),
    *(("intensity", name, "--prompt", 7, "--batch", 3) for name in VARIED),
]
some = pytest.mark.parametrize("command", COMMANDS, ids=lambda c: "-".join(map(str, c)))


def states(cell: str, row: dict[str, Any]) -> bool:
    """Whether a cell shows a row's value: an integer exactly, others to the digits shown."""
    exact = Fraction(row.get("exact", row["value"]))
    text = cell.removeprefix("≈ ").replace(",", "").removesuffix(f" {row['unit']}")
    number, _, unit = text.partition(" ")
    if unit in BINARY:
        exact /= 1024 ** BINARY.index(unit)
    elif isinstance(row["value"], int):
        return number == str(exact)
    digits = Decimal(number)
    last = Fraction(Decimal(1).scaleb(digits.as_tuple().exponent))  # type: ignore[arg-type]
    return abs(Fraction(digits) - exact) <= last / 2


def agree(*command: object) -> None:
    """All four formats of a command."""
    rows, spread = in_json(*command), in_csv(*command)
    table, marked = (
        [cells for cells in printed(*command) if len(cells) > 1]  # others are headings
        for printed in (in_table, in_markdown)
    )
    assert len(rows) == len(spread) == len(table) == len(marked) > 0
    for row, line, cells, others in zip(rows, spread, table, marked, strict=True):
        assert (line["address"], line["unit"]) == (row["address"], row["unit"])
        assert line["value"] == str(row["value"])
        assert line["exact"] == row.get("exact", "")
        if "exact" in row:
            assert float(Fraction(row["exact"])) == row["value"]
        assert states(cells[1], row), (row, cells)
        assert cells == others
        if row["unit"] == "bytes":
            assert cells[-1] == f"{row['value']:,}"


@some
def test_all_formats_of_a_bundled_model_agree(command: tuple[object, ...]) -> None:
    agree(*command)


@given(descriptions("decoder", "both"), st.sampled_from(("params", "flops", "kvcache")))
def test_all_formats_of_a_generated_model_agree(tree: Tree, command: str) -> None:
    agree(command, save(tree), *(() if command == "params" else ("--ctx", 9)))


@pytest.mark.parametrize("name", GENERATING)
def test_steps_of_generation_agree(name: str) -> None:
    rows = in_json("generation", name)
    spread = in_csv("generation", name)
    assert [(row["address"], str(row["value"])) for row in rows] == [
        (line["address"], line["value"]) for line in spread
    ]
    table = in_table("generation", name)
    assert table == in_markdown("generation", name)
    assert len(rows) == 6 * len(table)
    value = {row["address"]: row for row in rows}
    for line in table:
        label, naive, cached, ratio, *short, _, flops, cached_flops = line
        words = {"in all": "generation", "with prefill": "generation.with_prefill"}
        at = words.get(label, "generation." + label.replace(" ", "."))
        assert naive.replace(",", "") == str(value[f"{at}.tokens.naive"]["value"])
        assert cached.replace(",", "") == str(value[f"{at}.tokens.cached"]["value"])
        assert float(ratio.replace(",", "")) == pytest.approx(
            value[f"{at}.tokens.ratio"]["value"], abs=5e-4
        )
        assert flops.replace(",", "") == str(value[f"{at}.flops.naive"]["value"])
        assert cached_flops.replace(",", "") == str(value[f"{at}.flops.cached"]["value"])
        assert [len(number.partition(".")[2]) for number in short] == [3, 3]


@pytest.mark.parametrize("name", VARIED)
def test_shapes_agree(name: str) -> None:
    rows, table = in_json("shapes", name), in_table("shapes", name)
    assert [line["value"] for line in in_csv("shapes", name)] == [
        " ".join(map(str, row["value"])) for row in rows
    ]
    assert [cells[0] for cells in table] == [
        row["address"].removeprefix("shapes.block").lstrip(".") for row in rows
    ]
    assert [cells[2] for cells in table] == [
        ", ".join(f"{side:,}" for side in row["value"]) for row in rows
    ]
    assert table == in_markdown("shapes", name)


@pytest.mark.parametrize("name", VARIED)
def test_tensors_agree(name: str) -> None:
    check_tensors(name)


@given(descriptions())
def test_tensors_of_a_generated_model_agree(tree: Tree) -> None:
    check_tensors(save(tree))


def check_tensors(model: str) -> None:
    """Dims, copies and count of every weight, in every format."""
    rows, spread = in_json("params", model, "--tensors"), in_csv("params", model, "--tensors")
    *table, total = in_table("params", model, "--tensors")
    assert [*table, total] == in_markdown("params", model, "--tensors")
    assert len(rows) == len(spread) == len(table)
    held = 0
    for row, line, cells in zip(rows, spread, table, strict=True):
        *_, sizes, copies, count = cells
        assert sizes == " x ".join(f"{side:,}" for side in row["dims"])
        assert copies == f"{row['copies']:,}"
        assert line["dims"] == " ".join(map(str, row["dims"]))
        assert line["copies"] == str(row["copies"])
        each = Fraction(row["copies"])
        for side in row["dims"]:
            each *= side
        if count in ("tied", "buffer"):
            assert row["count"] == 0
            continue
        assert count == f"{row['count']:,}"
        assert line["count"] == str(row["count"])
        assert row["count"] == each
        held += row["count"]
    assert total == ["total", f"{held:,}"]


@pytest.mark.parametrize(
    ("ctx", "shown"),
    [(1, "4 B"), (250, "1,000 B"), (255, "1,020 B"), (256, "1.00 KiB"), (384, "1.50 KiB"),
     (2**18, "1.00 MiB"), (10**6, "3.81 MiB"), (2**28, "1.00 GiB"), (2**38, "1.00 TiB"),
     (2**49, "2.00 PiB")],
)  # fmt: skip
def test_bytes_are_shown_in_the_binary_unit_that_they_fill(ctx: int, shown: str) -> None:
    four_bytes_a_token = ("n_layers=1", "n_heads=1", "head_dim=1")
    options = [part for change in four_bytes_a_token for part in ("--set", change)]
    table = in_table("kvcache", "toy", "--ctx", ctx, *options)
    (total,) = [cells for cells in table if cells[0] == "total"]
    assert total[1:] == [shown, f"{4 * ctx:,}"]


def test_buffers_and_modules_stand_below_the_total_that_they_are_outside_of() -> None:
    """DeepSeek-V3's routers have a bias for each of 256 experts in 58 of 61 layers."""
    table = in_table("params", "deepseek-v3")
    names = [cells[0] for cells in table]
    assert names[names.index("total") :] == ["total", "active", "buffers", "mtp"]
    assert table[names.index("buffers")][1] == f"{58 * 256:,}"
    plain = [cells[0] for cells in in_table("params", "gpt2-small")]
    assert plain[plain.index("total") :] == ["total", "active", "buffers"]


def test_an_estimate_is_marked_in_every_format() -> None:
    """A decode step of three sequences reads 8·(1 - (3/4)^3) of Mixtral's 8 experts on average."""
    options = ("intensity", "mixtral-8x7b", "--batch", 3)
    rows = in_json(*options)
    assert all(row["estimate"] is True and "exact" not in row for row in rows)
    for table in (in_table(*options), in_markdown(*options)):
        assert all(cells[1].startswith("≈ ") for cells in table)
    for row in in_json("intensity", "gpt3", "--batch", 3):
        assert "estimate" not in row
        assert isinstance(row["value"], int) or "exact" in row


@pytest.mark.parametrize(
    ("address", "shown"),
    [("ratio", "36.136197"), ("crossover", "37")],
)
def test_other_numbers_are_shown_with_six_decimals(address: str, shown: str) -> None:
    rows = in_json("concurrency", "gpt3")
    at = [row["address"] for row in rows].index(f"concurrency.{address}")
    assert in_table("concurrency", "gpt3")[at][1] == shown


def test_a_small_number_is_shown_with_twelve_decimals() -> None:
    """A cache of 3 * 10^7 tokens, of 1,024 bytes each, outweighs 2 * 329,600 bytes of weights."""
    ratio = Fraction(2 * 329600, 3 * 10**7 * 1024)
    rows = in_json("concurrency", "toy", "--ctx", 3 * 10**7)
    at = [row["address"] for row in rows].index("concurrency.ratio")
    assert Fraction(rows[at]["exact"]) == ratio
    assert in_table("concurrency", "toy", "--ctx", 3 * 10**7)[at][1] == "0.000021458333"
