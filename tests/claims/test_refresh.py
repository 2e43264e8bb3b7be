"""``txcalc check --write``: what is replaced, what is left, and that nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import stat
from pathlib import Path

import pytest

from tests.support.pages import ABOUT, HOLDS, ROW, STALE, TOTAL, check
from tests.support.running import run
from txcalc.claims.replacing import _temporary_name


def test_a_file_that_is_reached_twice_is_checked_and_refreshed_once(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"9 GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->, 125M{TOTAL}\n", "utf-8")
    (tmp_path / "link.md").symlink_to(page)
    ran = run("check", "--write", page, page, tmp_path)
    assert ran.code == 0, ran.out
    assert "2 claims: 0 hold, 0 fail, 2 refreshed" in ran.out
    now = "10 GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->"
    assert page.read_text("utf-8") == f"{now}, 124M{TOTAL}\n"
    assert (tmp_path / "link.md").is_symlink()


def test_a_number_that_no_digit_of_its_style_tells_is_left_with_the_reason(tmp_path: Path) -> None:
    code, out, _ = check(tmp_path, f"1B{TOTAL}\n", "--write")
    assert code == 1
    assert "in its style it would be '0B', so it was left as it is" in " ".join(out.split())
    assert (tmp_path / "page.md").read_text("utf-8") == f"1B{TOTAL}\n"


def test_a_claim_that_cannot_be_replaced_does_not_keep_others_from_it(tmp_path: Path) -> None:
    parted = "**9** GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->"
    code, out, _ = check(tmp_path, f"{parted} or\n125M{TOTAL}\n", "--write")
    assert code == 1
    assert "its source reads otherwise, so it was left as it is" in " ".join(out.split())
    assert (tmp_path / "page.md").read_text("utf-8") == f"{parted} or\n124M{TOTAL}\n"
    folded = "claims:\n- id: a\n  model: gpt2-small\n  claim: params.total\n  value: >-\n    125M\n"
    row = "- {id: b, model: gpt2-small, claim: params.total, value: 125M}\n"
    code, _, _ = check(tmp_path, folded + row, "--write", name="claims.yaml")
    assert code == 1
    written = (tmp_path / "claims.yaml").read_text("utf-8")
    assert written == folded + row.replace("125M", "124M")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_a_refreshed_file_keeps_its_owner_and_mode(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(STALE, "utf-8")
    page.chmod(0o640)
    os.chown(page, 65534, 65534)
    assert run("check", "--write", page).code == 0
    kept = page.stat()
    assert (kept.st_uid, kept.st_gid, kept.st_mode & 0o777) == (65534, 65534, 0o640)


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code, _, err = check(tmp_path, STALE, "--write")
    assert code == 2
    assert "it cannot be written (No space left on device), so nothing of it was refreshed" in err
    assert [file.name for file in tmp_path.iterdir()] == ["page.md"]
    assert (tmp_path / "page.md").read_text("utf-8") == STALE


def test_write_keeps_style_line_ends_and_everything_else(tmp_path: Path) -> None:
    cache = "9 GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->"
    text = f"\ufeffa 125M{TOTAL}\r\nb **1.20e8**{TOTAL}, {cache}\r\n{HOLDS}"
    code, out, _ = check(tmp_path, text, "--write")
    assert code == 0
    assert "3 refreshed" in out
    fresh = (tmp_path / "page.md").read_bytes().decode("utf-8")
    assert fresh == text.replace("125M", "124M").replace("1.20e8", "1.24e8").replace(
        "9 GB", "10 GB"
    )
    again = run("check", tmp_path / "page.md")
    assert again.code == 0


@pytest.mark.parametrize("value", ["{}", "'{}'", '"{}"'])
def test_write_keeps_the_quotes_of_yaml(value: str, tmp_path: Path) -> None:
    text = f"{ROW}value: {value}}}  # was {value}\n"
    code, out, _ = check(tmp_path, text.replace("{}", "125M"), "--write", name="claims.yaml")
    assert code == 0, out
    fresh = text.replace("{}", "124M", 1).replace("{}", "125M")
    assert (tmp_path / "claims.yaml").read_text("utf-8") == fresh


def test_write_leaves_what_it_cannot_express(tmp_path: Path) -> None:
    text = f"It has 5 billion{TOTAL} parameters.\n"
    code, _, _ = check(tmp_path, text, "--write")
    assert code == 1
    assert (tmp_path / "page.md").read_text("utf-8") == text


def test_write_refreshes_bounds(tmp_path: Path) -> None:
    code, _, _ = check(tmp_path, f"more than, it is > 125M{TOTAL}; it is < 1M{TOTAL}\n", "--write")
    assert code == 0
    text = (tmp_path / "page.md").read_text("utf-8")
    assert f"> 124M{TOTAL}" in text
    assert f"< 125M{TOTAL}" in text


def test_a_read_only_file_loses_nothing_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(STALE, "utf-8")
    path.chmod(0o444)
    (tmp_path / "other.md").write_text(STALE, "utf-8")
    ran = run("check", tmp_path, "--write", "--format", "json")
    said = {Path(row["file"]).name: row["problem"] for row in json.loads(ran.out)}
    assert ran.code == 2
    assert said["page.md"].endswith("; the file is read-only, so nothing of it was refreshed")
    assert path.read_text("utf-8") == STALE
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert "124M" in (tmp_path / "other.md").read_text("utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.md", "page.md"]


def test_write_follows_links_and_keeps_permissions(tmp_path: Path) -> None:
    real = tmp_path / "real.md"
    real.write_text(STALE, "utf-8")
    real.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(real)
    assert run("check", link, "--write").code == 0
    assert link.is_symlink()
    assert "124M" in real.read_text("utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("ending", "page"),
    [
        (".mdx", f"It has $125\\,439\\,808${{/* {ABOUT} */}}.\n"),
        (".qmd", f"---\ntitle: x\n---\nIt has $125{{,}}439{{,}}808${TOTAL}.\n"),
        (".rst", f"It has **125,439,808**.\n\n.. {ABOUT}\n"),
        (".tex", f"It has $1.25 \\times 10^{{8}}$ % {ABOUT}\nof them.\n"),
    ],
)
def test_numbers_of_each_format_are_refreshed_in_their_style(
    ending: str, page: str, tmp_path: Path
) -> None:
    ran = check(tmp_path, page, "--write", name=f"page{ending}")
    assert ran.code == 0, ran.out
    fresh = page.replace("125", "124").replace("1.25", "1.24")
    assert (tmp_path / f"page{ending}").read_text("utf-8") == fresh


def test_an_edit_that_was_saved_after_the_page_was_read_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    fsync = os.fsync

    def saved_meanwhile(handle: int) -> None:
        fsync(handle)
        page.write_text(f"Edited. {STALE}", "utf-8")

    monkeypatch.setattr(os, "fsync", saved_meanwhile)
    ran = check(tmp_path, STALE, "--write")
    assert ran.code == 2
    assert "the file has changed since it was read, so nothing of it was refreshed" in ran.err
    assert page.read_text("utf-8") == f"Edited. {STALE}"
    assert os.listdir(tmp_path) == ["page.md"]


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    left = Path(_temporary_name(str(page)))
    for text in (STALE, HOLDS):
        left.write_text("half a pa", "utf-8")
        assert check(tmp_path, text, "--write").code == 0
        assert os.listdir(tmp_path) == ["page.md"]


def test_a_file_that_another_process_replaces_is_left_to_it(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    other = Path(_temporary_name(str(tmp_path / "page.md")))
    with other.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ran = check(tmp_path, STALE, "--write")
        assert (ran.code, "another process is replacing the file" in ran.err) == (2, True)
        assert other.exists()
    assert check(tmp_path, STALE, "--write").code == 0
    assert os.listdir(tmp_path) == ["page.md"]


def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept", "utf-8")
    Path(_temporary_name(str(tmp_path / "page.md"))).symlink_to(victim)
    assert check(tmp_path, STALE, "--write").code == 2
    assert victim.read_text("utf-8") == "kept"
    assert (tmp_path / "page.md").read_text("utf-8") == STALE


def test_a_link_out_of_the_folder_is_checked_and_never_written(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.md", tmp_path / "folder"
    outside.write_text(STALE, "utf-8")
    folder.mkdir()
    (folder / "link.md").symlink_to(outside)
    for path in (folder, folder / "link.md"):
        ran = run("check", "--write", path)
        assert ran.code == 2
        assert "its link leads out of the folder, so nothing of it was refreshed" in ran.err
    assert outside.read_text("utf-8") == STALE
    assert run("check", "--write", outside, folder).code == 0
    assert outside.read_text("utf-8") == STALE.replace("125M", "124M")


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    page = tmp_path / "b" / "page.md"
    page.write_text(STALE, "utf-8")
    (tmp_path / "a" / "link.md").symlink_to(page)
    assert run("check", "--write", tmp_path).code == 0
    assert page.read_text("utf-8") == STALE.replace("125M", "124M")


@pytest.mark.parametrize("number", ["1" * 201, "1" * 400, "1" * 5000])
def test_a_long_number_is_replaced_whole_or_not_at_all(number: str, tmp_path: Path) -> None:
    page = f"It has {number}{TOTAL} of them.\n"
    assert check(tmp_path, page, "--write").code == 2
    assert (tmp_path / "page.md").read_text("utf-8") == page
    row = f"{ROW}value: {number}}}\n"
    assert check(tmp_path, row, "--write", name="claims.yaml").code == 2
    assert (tmp_path / "claims.yaml").read_text("utf-8") == row


def test_ctrl_c_after_a_file_was_replaced_says_so_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def interrupted(*paths: str) -> None:
        replace(*paths)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", interrupted)
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(STALE, "utf-8")
    ran = run("check", "--write", tmp_path)
    assert (ran.code, ran.err) == (130, "")
    assert "1 claim: 0 hold, 0 fail, 1 refreshed" in ran.out
    assert (tmp_path / "a.md").read_text("utf-8") == STALE.replace("125M", "124M")
    assert (tmp_path / "b.md").read_text("utf-8") == STALE
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
