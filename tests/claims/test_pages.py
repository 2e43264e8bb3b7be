"""Which files are checked, how each is read, and what they may name."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.pages import HOLDS, ROW, STALE, TOTAL, check
from tests.support.running import run
from txcalc.sources.bundled import configs


def test_files_that_cannot_be_read_are_told_and_the_others_checked(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"one\ntwo \xe9 <!-- txcalc: -->\n")
    (tmp_path / "broken.yaml").write_text("claims:\n- {id: a\n", "utf-8")
    (tmp_path / "other.yaml").write_text("on: [push]\n", "utf-8")
    (tmp_path / "good.md").write_text(HOLDS, "utf-8")
    ran = run("check", tmp_path, tmp_path / "none.md", "--format", "json")
    found = {Path(row["file"]).name: row for row in json.loads(ran.out)}
    assert ran.code == 2
    assert (found["latin.md"]["line"], found["latin.md"]["status"]) == (2, "unreadable")
    assert "not UTF-8" in found["latin.md"]["problem"]
    assert found["broken.yaml"]["status"] == found["none.md"]["status"] == "unreadable"
    assert found["good.md"]["holds"]
    assert "other.yaml" not in found


def test_a_folder_is_read_without_what_is_hidden_or_installed(tmp_path: Path) -> None:
    for name in ("a.MD", ".hidden/b.md", "node_modules/c.md", "sub/d.markdown", "e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(HOLDS, "utf-8")
    found = json.loads(run("check", tmp_path, "--format", "json").out)
    assert [Path(row["file"]).name for row in found] == ["a.MD", "d.markdown"]


def test_claims_stand_below_the_name_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(HOLDS, "utf-8")
    (tmp_path / "b.md").write_text(STALE, "utf-8")
    (tmp_path / "c.txt").write_text(STALE, "utf-8")
    lines = run("check", tmp_path / "a.md", tmp_path / "b.md").out.splitlines()
    first, second = (lines.index(f"{tmp_path}/{name}") for name in ("a.md", "b.md"))
    assert any("holds" in line for line in lines[first:second])
    assert any("fails" in line for line in lines[second:])
    assert f"{tmp_path}/a.md" not in run("check", tmp_path / "a.md").out
    assert "no page and no claims file: .md, " in run("check", tmp_path / "c.txt").err
    assert "No such file" in run("check", tmp_path / "d.txt").err


def test_a_bundled_name_comes_before_a_file_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "gpt2-small").write_text("no model", "utf-8")
    assert check(tmp_path, HOLDS)[0] == 0


def test_a_model_beside_the_document_is_found(tmp_path: Path) -> None:
    text = (Path(configs()) / "models" / "toy.yaml").read_text("utf-8")
    (tmp_path / "mine.yaml").write_text(text.replace("name: toy", "name: mine"), "utf-8")
    code, out, _ = check(tmp_path, "329,600<!-- txcalc: mine.yaml params.total -->")
    assert code == 0, out


def test_a_page_of_a_folder_that_has_no_claim_may_be_anything(tmp_path: Path) -> None:
    (tmp_path / "old.tex").write_bytes(b"caf\xe9\n")
    (tmp_path / "utf-16.md").write_bytes("no claims".encode("utf-16"))
    (tmp_path / "half.ipynb").write_text("{", "utf-8")
    (tmp_path / "good.md").write_text(HOLDS, "utf-8")
    assert run("check", tmp_path).code == 0
    for name in ("old.tex", "utf-16.md", "half.ipynb"):
        assert run("check", tmp_path / name).code == 2
    (tmp_path / "utf-16.md").write_bytes(HOLDS.encode("utf-16"))
    ran = run("check", tmp_path)
    assert ran.code == 2
    assert "utf-16.md:1: not UTF-8: save the file as UTF-8" in ran.err


@pytest.mark.parametrize("name", ["page.md", "claims.yaml", "page.rst", "page.tex", "page.mdx"])
def test_where_no_claim_stands_a_word_says_so(name: str, tmp_path: Path) -> None:
    text = "claims: []\n" if name == "claims.yaml" else "Nothing.\n"
    code, out, err = check(tmp_path, text, name=name)
    assert (code, err) == (0, f"txcalc: warning: no claim stands in {tmp_path / name}\n")
    assert out == "0 claims: 0 hold, 0 fail\n"
    assert check(tmp_path, text, "--format", "json", name=name)[:2] == (0, "[]\n")
    assert check(tmp_path, text, "-q", name=name) == (0, "", "")


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(HOLDS, "utf-8")
    ran = run("check", tmp_path)
    assert (ran.code, "no page and no claims file in this folder" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (HOLDS, 0), (STALE, 1), (f"{ROW}value: 124M}}\n", 0), ("none<!-- txcalc: x y.z -->", 2),
        (f"# of 1\n\nsource: x\n{ROW}value: 125M}}\n", 1), (f"```yaml\nclaims:\n```\n{HOLDS}", 0),
        ("\n" * 1000 + HOLDS, 0), ("", 0),
    ],
)  # fmt: skip
def test_standard_input_is_markdown_or_a_claims_file(
    text: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode("utf-8"))))
    ran = run("check", "-", "-")
    assert ran.code == code
    assert ("1 claim:" in ran.out) == bool(text)


def test_standard_input_that_is_closed_or_to_be_written_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run("check", "--write", "-")
    assert (ran.code, "standard input cannot be refreshed" in ran.err) == (2, True)
    closed = io.TextIOWrapper(io.BytesIO())
    closed.close()
    monkeypatch.setattr(sys, "stdin", closed)
    ran = run("check", "-")
    assert (ran.code, "-:1: standard input is closed" in ran.err) == (2, True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has fifos")
def test_nothing_waits_for_a_pipe(tmp_path: Path) -> None:
    for name in ("pipe.md", "pipe.yaml"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "config.json")
    (tmp_path / "link.md").symlink_to(tmp_path / "pipe.md")
    (tmp_path / "empty.yaml").touch()
    for name in ("pipe.md", "link.md"):
        ran = run("check", tmp_path / name)
        assert (ran.code, "no regular file" in ran.err) == (2, True)
    for name in ("pipe.yaml", f"{tmp_path}/pipe.yaml", "folder", "empty.yaml", "./pipe.md"):
        ran = check(tmp_path, f"{HOLDS}\n1<!-- txcalc: {name} params.total -->\n")
        assert ran.code == 2
        assert "2 claims: 1 hold, 0 fail, 1 cannot be read" in ran.out
        assert f"page.md:3: {name}: empty, or no regular file" in ran.err
    ran = run("check", tmp_path)
    assert (ran.code, "2 claims: " in ran.out) == (2, True)


def test_nothing_is_fetched_for_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(address: str) -> str:
        pytest.fail(f"{address} was fetched")

    monkeypatch.setattr("txcalc.sources.hub.fetch", fetch)
    for page in ("1<!-- txcalc: hf:org/name params.total -->", f"{ROW}value: 1}}"):
        text = page.replace("gpt2-small", "hf:org/name@main")
        name = "claims.yaml" if page.startswith("claims") else "page.md"
        ran = check(tmp_path, text, name=name)
        assert (ran.code, "nothing is fetched for a page" in ran.err) == (2, True)


def test_a_model_is_read_once_for_all_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from txcalc.claims import checking

    read: list[str] = []
    load = checking.load
    monkeypatch.setattr(
        checking, "load", lambda name, *of, **more: (read.append(name), load(name, *of, **more))[1]
    )
    (tmp_path / "a.md").write_text(HOLDS * 3, "utf-8")
    (tmp_path / "b.md").write_text(HOLDS + HOLDS.replace("gpt2-small", "nosuch") * 3, "utf-8")
    assert run("check", tmp_path).code == 2
    assert read == ["gpt2-small", "nosuch"]


def test_a_file_with_very_many_claims_is_given_up_and_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("txcalc.claims.files.MAX_UNREADABLE", 5)
    (tmp_path / "a.md").write_text(f"none{TOTAL}\n" * 9, "utf-8")
    (tmp_path / "b.md").write_text(HOLDS, "utf-8")
    ran = run("check", tmp_path)
    assert "7 claims: 1 hold, 0 fail, 6 cannot be read" in ran.out
    assert "a.md:6: the claims from here on are not checked, after 5 that cannot be read" in ran.err
