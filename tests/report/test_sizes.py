"""Whole numbers as people write them, wherever one may be written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import txcalc
from tests.support.running import get, run
from txcalc.errors import OptionError
from txcalc.report.sizes import whole
from txcalc.sweeps.axes import axes

WRITTEN = {
    "0": 0, "7": 7, "-5": -5, "32768": 32768, "32_768": 32768, "32,768": 32768,
    "1,000,000": 10**6, "32Ki": 2**15, "1Mi": 2**20, "2Gi": 2**31, "1Ti": 2**40, "1,024Ki": 2**20,
}  # fmt: skip
UNREAD = (
    "", "-", "01", "1.5", "1e3", "two", "32 768", "3,27", "32,7680", ",768", "32__768", "32_76_8",
    "1,000_000", "32ki", "32KiB", "Ki", "１", "9" * 101, "32.768", "1'000",
)  # fmt: skip


@pytest.mark.parametrize(("text", "number"), WRITTEN.items())
def test_a_number_is_read(text: str, number: int) -> None:
    assert whole(text) == number


@given(st.integers(0, 10**30))
def test_digits_may_be_grouped_in_threes(number: int) -> None:
    assert whole(str(number)) == whole(f"{number:,}") == whole(f"{number:_}") == number


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_no_number_is_refused_with_what_would_be(text: str) -> None:
    with pytest.raises(OptionError, match="write it as 32768, 32,768, 32_768 or 32Ki"):
        whole(text)


@pytest.mark.parametrize(
    ("text", "readings"),
    [("32k", "32,000, or 32Ki = 32,768"), ("32K", "32,000, or 32Ki = 32,768"),
     ("1M", "1,000,000, or 1Mi = 1,048,576"), ("2g", "2,000,000,000, or 2Gi = 2,147,483,648")],
)  # fmt: skip
def test_a_number_of_two_readings_is_refused_with_both(text: str, readings: str) -> None:
    with pytest.raises(OptionError, match=readings):
        whole(text)
    for arguments in (("get", "--ctx", text), ("sweep", "--over", f"ctx=1,{text}")):
        ran = run(arguments[0], "toy", "flops.total", *arguments[1:])
        assert (ran.code, ran.out) == (2, "")
        assert f"{text!r} has two readings: {readings}" in ran.err
    with pytest.raises(OptionError, match=readings):
        txcalc.get("toy", "flops.total", ctx=text)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["1024", "1,024", "1_024", "1Ki"])
def test_one_size_is_the_same_everywhere(text: str, tmp_path: Path) -> None:
    value = get("toy", "kvcache.sequence", "--ctx", 1024)
    assert get("toy", "kvcache.sequence", "--ctx", text) == value
    assert txcalc.get("toy", "kvcache.sequence", ctx=text) == value  # type: ignore[arg-type]
    swept = run("sweep", "toy", "kvcache.sequence", "--over", f"ctx={text}:1024", "--format", "csv")
    assert swept.out == f"ctx,kvcache.sequence\n1024,{value}\n"
    page = tmp_path / "page.md"
    page.write_text(f"{value}<!-- txcalc: toy kvcache.sequence ctx={text} -->\n")
    assert run("check", page).code == 0


def test_a_list_has_no_groups() -> None:
    assert [list(axis.values) for axis in axes(["ctx=32,768"])] == [[32, 768]]
    assert [list(axis.values) for axis in axes(["ctx=1Ki,2_048"])] == [[1024, 2048]]
    assert [list(axis.values) for axis in axes(["ctx=1,024:2,048:+1Ki"])] == [[1024, 2048]]
