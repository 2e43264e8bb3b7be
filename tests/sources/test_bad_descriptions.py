"""What is wrong with a file, where, and what would be right: one line each, and exit code 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.running import get, run

GOOD = """\
name: small
source: made up
d_model: 8
vocab: 10
context: 16
parts:
  own: {kind: gqa, n_heads: 4, n_kv_heads: 2}
blocks:
  dense:
    norm: rms
    attention: own
    ffn: {kind: plain, d_ff: 6}
    tensors: {conv: {use: matmul, dims: [d_ff, d_model]}}
  sparse:
    norm: rms
    attention: {kind: mha, n_heads: 4}
    ffn: {kind: moe, n_experts: 4, top_k: 2, d_expert: 6}
layers: {count: 3, pattern: [dense, sparse], positions: {kind: learned, n_positions: 16}}
head: {tied: true}
"""

EDITS = {
    # A size that is a product.
    "unknown-factor": ("[d_ff, d_model]", "[d_ff, 2*d_modle]", "tensors.conv.dims", "'d_model'"),
    "no-factor": ("[d_ff, d_model]", "[d_ff, 2*]", "tensors.conv.dims", "names no one dimension"),
    "zero-factor": ("[d_ff, d_model]", "[d_ff, 0*d_model]", "tensors.conv.dims", "'0'"),
    # A size that is none.
    "zero": ("d_model: 8", "d_model: 0", "d_model: 0 ", "from 1 to 10^15"),
    "negative": ("vocab: 10", "vocab: -10", "vocab: -10 ", "from 1 to 10^15"),
    "above-10^15": ("d_ff: 6", "d_ff: 1000000000000001", "dense.ffn.d_ff", "from 1 to 10^15"),
    "far-above-10^15": ("d_ff: 6", "d_ff: " + "9" * 40, "dense.ffn.d_ff", "10^15"),
    "octal": ("d_model: 8", "d_model: 010", "d_model: ", "whole number", "'010'"),
    "exponent": ("d_model: 8", "d_model: 1e5", "d_model: ", "whole number", "'1e5'"),
    "word": ("d_model: 8", "d_model: no", "d_model: ", "whole number", "'no'"),
    "fraction": ("d_model: 8", "d_model: 8.0", "d_model: ", "whole number", "'8.0'"),
    "sexagesimal": ("d_model: 8", "d_model: 1:30", "d_model: ", "whole number", "'1:30'"),
    "underscore": ("d_model: 8", "d_model: 1_000", "d_model: ", "whole number", "'1_000'"),
    "hexadecimal": ("d_model: 8", "d_model: 0x8", "d_model: ", "whole number", "'0x8'"),
    "plus": ("d_model: 8", "d_model: +8", "d_model: ", "whole number", "'+8'"),
    "quoted": ("d_model: 8", 'd_model: "8"', "d_model: ", "whole number", "'8'"),
    "list": ("d_model: 8", "d_model: [8]", "d_model: ", "whole number"),
    "nothing": ("d_model: 8", "d_model:", "d_model: ", "whole number"),
    "true": ("n_heads: 4}", "n_heads: true}", "sparse.attention.n_heads: ", "whole number"),
    # A field that is none, or of another type.
    "unknown-field": ("d_model: 8", "d_modle: 8", "d_modle: unknown field", "'d_model'"),
    "unknown-nested": ("n_experts: 4", "n_expert: 4", "sparse.ffn.n_expert: unknown", "n_experts"),
    "unknown-in-part": ("n_kv_heads: 2", "n_kv_head: 2", "parts.own.n_kv_head: ", "n_kv_heads"),
    "unknown-in-stack": ("count: 3", "counts: 3", "layers.counts: unknown field", "'count'"),
    "unknown-in-block": ("    norm: rms\n    attention: own", "    norms: rms\n    attention: own",
                         "blocks.dense.norms: unknown field", "'norm'"),
    "unknown-in-head": ("tied: true", "tide: true", "head.tide: unknown field", "'tied'"),
    "unknown-in-tensor": ("use: matmul", "uses: matmul", "dense.tensors.conv.uses: ", "'use'"),
    "unknown-in-positions": ("n_positions", "n_position", "layers.positions.n_position: ",
                             "'n_positions'"),
    "missing-field": ("d_model: 8\n", "", "d_model", "missing"),
    "missing-nested": (", top_k: 2", "", "blocks.sparse.ffn", "top_k", "missing"),
    "not-a-word": ("tied: true", "tied: yes", "head.tied: ", "true", "false"),
    "not-a-list": ("[dense, sparse]", "dense", "layers.pattern: ", "list"),
    "not-a-mapping": ("{tied: true}", "tied", "head: ", "mapping"),
    "unknown-norm": ("    norm: rms\n    attention: own", "    norm: rsm\n    attention: own",
                     "blocks.dense.norm: ", "'rsm'", "'rms'"),
    "a-word-with-a-quote": ("kind: moe", "expert: pl'ain, kind: moe", "blocks.sparse.ffn.expert: ",
                            "pl'ain", "plain"),
    "a-word-with-ticks": ("kind: moe", "expert: '`a` `b`', kind: moe",
                          "blocks.sparse.ffn.expert: ", "`a` `b`"),
    "unknown-use": ("use: matmul", "use: matmull", "dense.tensors.conv.use: ", "'matmul'"),
    "unknown-kind": ("kind: plain", "kind: plane", "blocks.dense.ffn.kind: ", "'plain'"),
    "no-kind": ("kind: plain, ", "", "blocks.dense.ffn.kind: ", "plain, glu, moe"),
    "kind-of-another-role": ("kind: plain", "kind: mha", "blocks.dense.ffn.kind: ", "plain"),
    # Fields that contradict each other.
    "kv-heads": ("n_kv_heads: 2", "n_kv_heads: 3", "parts.own: ", "n_heads 4", "n_kv_heads 3"),
    "top-k": ("top_k: 2", "top_k: 5", "blocks.sparse.ffn: ", "top_k 5", "n_experts 4"),
    "head-dim": ("d_model: 8", "d_model: 9", "parts.own: ", "d_model 9", "n_heads 4", "head_dim"),
    "too-few-layers": ("count: 3", "count: 1, first: [dense], last: [dense]", "layers.count: 1 "),
    "matmul-of-three": ("[d_ff, d_model]", "[d_ff, d_model, 2]", "tensors.conv.dims: ", "two"),
    "no-such-letter": ("[d_ff, d_model]", "[d_f, d_model]", "dense.tensors.conv.dims: ", "'d_ff'"),
    "cross-alone": ("    ffn: {kind: plain", "    cross_attention: own\n    ffn: {kind: plain",
                    "blocks.dense.cross_attention: ", "encoder"),
    # Names.
    "no-such-block": ("[dense, sparse]", "[dense, spars]", "layers", "'spars'", "'sparse'"),
    "unused-block": ("[dense, sparse]", "[dense]", "blocks.sparse: ", "no stack uses"),
    "no-block": ("[dense, sparse]", "[]", "layers.pattern: ", "at least one"),
    "component-name": ("  sparse:", "  ffn:", "blocks.ffn: ", "component"),
    "no-name": ("  sparse:", "  1 x:", "blocks.1 x: ", "letters"),
    "digit-first": ("  sparse:", "  1b:", "blocks.1b: ", "a letter first"),
    "no-such-part": ("attention: own", "attention: onw", "dense.attention: ", "'onw'", "'own'"),
    "unused-part": ("attention: own", "attention: {kind: mha, n_heads: 4}", "parts.own: ",
                    "no block uses"),
    "no-layers": ("layers: {", "encoders: {", "encoders: unknown field", "'encoder'"),
}  # fmt: skip

WIDTHS = """\
name: two widths
source: made up
d_model: 8
vocab: 10
parts:
  own: {kind: mha, n_heads: 2}
  other: {kind: mha, n_heads: 2}
blocks:
  reader: {norm: none, attention: other}
  writer: {norm: none, attention: own}
encoder: {count: 3, d_model: 16, pattern: [reader]}
layers: {count: 5, pattern: [writer]}
"""

TEXTS = {
    "empty": ("", "", "empty"),
    "comment": ("# nothing\n", "", "empty"),
    "a-list": ("[1, 2]\n", "", "mapping"),
    "a-number": ("5\n", "", "mapping"),
    "bad-yaml": ("name: [a\nb: 3\n", ":2:2", "bad YAML"),
    "tab": ("name: a\n\tb: 3\n", ":2:1", "bad YAML", "tab"),
    "two-documents": ("a: 1\n---\nb: 2\n", ":2:1", "second document"),
    "duplicate-key": ("name: a\nblocks:\n  x: 1\n  x: 2\n", ":4:3", "'x' stands twice"),
    "anchor": ("a: &x 1\n", ":1:4", "anchors and aliases"),
    "alias": ("a: 1\nb: *x\n", ":2:4", "anchors and aliases"),
    "merge-key": ("a:\n  <<: {b: 1}\n", ":2:3", "'<<'"),
    "tag": ("a: !!python/object:os.system {}\n", ":1:4", "tag"),
    "list-as-key": ("[1, 2]: 3\n", ":1:1", "key"),
    "deep-lists": ("a: " + "[" * 600 + "]" * 600 + "\n", ":1:", "nested"),
    "deep-mappings": ("a: " + "{b: " * 300 + "1" + "}" * 300 + "\n", ":1:", "nested"),
    "control-character": ("a: \x01\n", "", "bad YAML"),
}

BYTES = {
    "latin-1": (b"name: \xe9t\xe9\n", "not UTF-8 at byte 6"),
    "utf-16": ("name: a\n".encode("utf-16"), "not UTF-8 at byte 0"),
    "nul": (b"name: a\0\n", "bad YAML"),
    "50-megabytes": (b"a: " + b"x" * 50_000_000, "longer than"),
}


def refused(path: Path | str, *arguments: object) -> str:
    """The one line that a command ends with instead of an answer."""
    code, out, err = run("params", path, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("txcalc: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert len(err) < 1000
    return err.removeprefix("txcalc: ")


def test_the_good_description_is_good(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD, "utf-8")
    ran = run("params", path)
    assert (ran.code, ran.err) == (0, "")


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "marked.yaml"
    path.write_text(GOOD, "utf-8-sig")
    assert run("params", path).code == 0


@pytest.mark.parametrize("case", EDITS)
def test_a_fault_of_content_names_its_path(case: str, tmp_path: Path) -> None:
    old, new, *said = EDITS[case]
    assert old in GOOD
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace(old, new), "utf-8")
    message = refused(path)
    assert message.startswith(f"{path}: ")
    for words in said:
        assert words in message


def test_a_part_is_not_shared_by_stacks_of_two_widths(tmp_path: Path) -> None:
    """What it leaves out is derived from the width: heads of 4 channels here, of 8 there."""
    path = tmp_path / "model.yaml"
    path.write_text(WIDTHS, "utf-8")
    assert get(str(path), "params.blocks") == 3 * 4 * 16 * 16 + 5 * 4 * 8 * 8
    other = "  other: {kind: mha, n_heads: 2}\n"
    path.write_text(WIDTHS.replace(other, "").replace("attention: other", "attention: own"))
    message = refused(path)
    assert ".attention: " in message
    assert "two widths share 'own'" in message
    path.write_text(path.read_text("utf-8").replace("d_model: 16", "d_model: 8"), "utf-8")
    assert get(str(path), "params.blocks") == (3 + 5) * 4 * 8 * 8


@pytest.mark.parametrize("case", TEXTS)
def test_a_fault_of_form_names_its_line(case: str, tmp_path: Path) -> None:
    text, place, *said = TEXTS[case]
    path = tmp_path / "model.yaml"
    path.write_text(text, "utf-8")
    message = refused(path)
    assert message.startswith(f"{path}{place}")
    for words in said:
        assert words in message


@pytest.mark.parametrize("case", BYTES)
def test_a_file_that_is_no_text(case: str, tmp_path: Path) -> None:
    raw, said = BYTES[case]
    path = tmp_path / "model.yaml"
    path.write_bytes(raw)
    assert f"{path}: {said}" in refused(path)


def test_a_missing_file(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "none.yaml")


def test_a_directory(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    assert f"{tmp_path / 'folder.yaml'}: " in refused(tmp_path / "folder.yaml")
    assert str(tmp_path) in refused(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "locked.yaml"
    path.write_text(GOOD, "utf-8")
    path.chmod(0)
    assert "Permission denied" in refused(path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("gpt2-smal", "'gpt2-small'"), ("gtp3", "'gpt3'"), ("transformer_base", "'transformer-base'"),
     ("GPT-33", "'gpt3'"), ("", "txcalc models"), ("no such thing", "txcalc models")],
)  # fmt: skip
def test_an_unknown_model_names_the_nearest(name: str, hint: str) -> None:
    message = refused(name)
    assert repr(name) in message
    assert hint in message


def test_nothing_is_printed_of_good_models_beside_a_bad_one() -> None:
    assert "'toi'" in refused("toy", "toi", "gpt3")


def test_a_bad_value_is_not_repeated_at_length(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    for value in ("9" * 100_000, "x" * 100_000):
        path.write_text(GOOD.replace("d_model: 8", f"d_model: {value}"), "utf-8")
        assert "d_model" in refused(path)


def test_a_context_is_needed_where_the_model_states_none(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("context: 16\n", ""), "utf-8")
    code, out, err = run("flops", path)
    assert (code, out) == (2, "")
    assert "small states no context of its own: give --ctx" in err
    assert run("flops", path, "--ctx", 4).code == 0
    assert run("params", path).code == 0


def test_a_partial_model_answers_params_and_refuses_the_rest_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    block = "  sparse:\n    norm: rms\n"
    path.write_text(GOOD.replace(block, block + "    partial: true\n"), "utf-8")
    assert run("params", path).code == 0
    assert run("get", path, "params.total").code == 0
    for command in ("flops", "kvcache", "intensity", "concurrency", "generation", "shapes"):
        code, out, err = run(command, path)
        assert (code, out) == (2, "")
        assert err.startswith("txcalc: small: its block 'sparse' is partial")
        assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["params", "flops", "kvcache", "intensity", "show"])
@pytest.mark.parametrize(
    "tensor",
    [
        "{use: elementwise, dims: [" + ", ".join(["1000000000000000"] * 7) + "]}",
        "{use: elementwise, copies: 1000000000000000, dims: ["
        + ", ".join(["1000000000000000"] * 8) + "]}",
        "{use: matmul, dims: [" + "d_model*" * 300 + "d_model, d_model]}",
        "{use: conv, dims: [" + "1000000000000000*" * 20_000 + "d_model, 4]}",
        "{use: matmul, dims: [1000000000000000*d_model, d_model]}",
    ],
)  # fmt: skip
def test_a_tensor_beyond_any_size_is_refused(tensor: str, command: str, tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("{use: matmul, dims: [d_ff, d_model]}", tensor), "utf-8")
    ran = run(command, path)
    assert (ran.code, ran.out) == (2, "")
    assert "tensors.conv" in ran.err


def test_the_largest_tensor_is_counted_in_every_format(tmp_path: Path) -> None:
    """10^15 x 10^15 in 10^15 copies, in 10^15 layers: the other terms are far below."""
    most = 10**15
    text = GOOD.replace(
        "{use: matmul, dims: [d_ff, d_model]}",
        f"{{use: elementwise, copies: {most}, dims: [{most}, {most}]}}",
    ).replace("count: 3", f"count: {most}")
    path = tmp_path / "model.yaml"
    path.write_text(text, "utf-8")
    assert str(get(str(path), "params.blocks")).startswith("5" + "0" * 25)
    for command in ("params", "flops", "kvcache", "intensity", "concurrency", "show"):
        for fmt in ("table", "json", "csv", "markdown"):
            ran = run(command, path, "--format", fmt, *(["--ctx", most] * (command != "params")))
            assert ran.code == 0, ran.err
