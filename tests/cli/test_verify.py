"""``txcalc verify`` on the command line: its verdict, its exit codes and its formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkpoints import LLAMA, MINILM, Header, llama_header, written
from tests.support.running import Run, answer, run

CONFIG: dict[str, Any] = LLAMA | {"tie_word_embeddings": True}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    written(tmp_path / "model.safetensors", llama_header(CONFIG))
    return tmp_path


def said(ran: Run) -> str:
    """What a command printed, however its lines are broken."""
    return " ".join(ran.out.split())


def changed(folder: Path, header: Header) -> Path:
    return written(folder / "other.safetensors", header)


def test_the_verdict_stands_first(folder: Path) -> None:
    for words in ((folder,), (folder / "model.safetensors",), (folder / "config.json", folder)):
        ran = run("verify", *words)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.split("\n\n")[1].startswith(" The checkpoint holds ")


def test_what_differs_ends_in_1(folder: Path) -> None:
    header = llama_header(CONFIG)
    lost = {n: t for n, t in llama_header(CONFIG).items() if ".2." not in n}
    at = 0
    for tensor in lost.values():
        first, last = tensor["data_offsets"]
        tensor["data_offsets"] = [at, at + last - first]
        at += last - first
    assert len(header) - len(lost) == 9
    ran = run("verify", changed(folder, lost))
    assert ran.code == 1
    assert "NOT hold" in said(ran)
    assert "9 missing" in said(ran)
    assert "model.layers.2.mlp.up_proj.weight" in ran.out


def test_buffers_differ_where_it_is_strict(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(MINILM["config"]))
    written(tmp_path / "model.safetensors", MINILM["header"])
    ran = run("verify", tmp_path)
    assert ran.code == 0
    assert "= 22,713,216 (params.total) + 512 (buffers)" in said(ran)
    ran = run("verify", tmp_path, "--strict")
    assert ran.code == 1
    assert "1 of buffers" in said(ran)


def test_what_cannot_be_read_ends_in_2(folder: Path, tmp_path: Path) -> None:
    (folder / "short.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}")
    apart = tmp_path / "apart"
    apart.mkdir()
    alone = written(apart / "alone.safetensors", llama_header(CONFIG))
    for words, why in {
        (folder / "short.safetensors",): "a header of 8 bytes in a file of 10",
        (folder / "none.safetensors",): "cannot be read",
        (alone,): "name the MODEL first",
        ("gpt3", "a", "b"): "one MODEL and one CHECKPOINT",
        ("nonesuch", folder): "nonesuch",
    }.items():
        ran = run("verify", *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert why in ran.err


def test_json_has_the_verdict_and_each_difference(folder: Path) -> None:
    header = llama_header(CONFIG | {"intermediate_size": 128})
    ran = run("verify", changed(folder, header), "--format", "json")
    assert ran.code == 1
    [read] = json.loads(ran.out)
    assert "12 other shape" in read["verdict"][0]
    assert len(read["differences"]) == 12
    assert read["differences"][0].keys() == {
        "what", "row", "layer", "expected", "found", "tensor",
    }  # fmt: skip
    assert {row["address"]: row["value"] for row in read["rows"]}["verify.other_shape"] == 12


@pytest.mark.parametrize("fmt", ["csv", "markdown"])
def test_other_formats_have_the_figures(fmt: str, folder: Path) -> None:
    assert "38" in answer("verify", folder, "--format", fmt)


def test_a_figure_is_asked_for_with_its_checkpoint(folder: Path) -> None:
    words = ("get", folder, "verify.tensors", "--checkpoint", folder)
    assert answer(*words) == "38\n"
    assert "verify.elements" in answer("explain", folder, "verify.elements", *words[3:])
    ran = run("get", folder, "verify.tensors")
    assert (ran.code, "--checkpoint" in ran.err) == (2, True)
