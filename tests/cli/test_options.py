"""Options that cannot be used, and phases that an architecture lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources.test_bad_descriptions import GOOD
from tests.support.running import run

CROSS = """\
  reader: {norm: rms, attention: own}
  writer: {norm: rms, attention: own, cross_attention: {kind: mha, n_heads: 2}}
"""

REFUSED = {
    "flops toy --ctx 0": ["--ctx 0", "from 1 to 10^15"],
    "flops toy --ctx -1": ["--ctx -1", "from 1 to 10^15"],
    "flops toy --ctx 1000000000000001": ["--ctx", "from 1 to 10^15"],
    "flops toy --ctx 1e3": ["--ctx", "'1e3'"],
    "flops toy --ctx 2.5": ["--ctx", "'2.5'"],
    "flops toy --ctx": ["--ctx", "argument"],
    "show gpt3 --json": ["--json", "did you mean --format json?"],
    "flops --prefill toy": ["--prefill", "did you mean --phase prefill?"],
    "get toy params.total --json": ["No such option: --json"],
    "flops toy --batch 0": ["--batch 0", "from 1 to 10^15"],
    "kvcache toy --ctx 0": ["--ctx 0"],
    "kvcache toy --batch 0": ["--batch 0"],
    "intensity toy --prompt 0": ["--prompt 0"],
    "intensity toy --ctx 0": ["--ctx 0"],
    "concurrency toy --ctx 0": ["--ctx 0"],
    "generation toy --prompt 0": ["--prompt 0"],
    "generation toy --new 0": ["--new 0"],
    "shapes toy --tokens 0": ["--tokens 0"],
    "shapes toy --batch 0": ["--batch 0"],
    "show toy --ctx 0": ["--ctx 0"],
    "get toy kvcache.token --ctx 0": ["--ctx 0"],
    "flops bart-base --source 0": ["--source 0"],
    "flops toy --source 4": ["toy", "no encoder", "--source"],
    "kvcache toy --source 4": ["toy", "no encoder", "--source"],
    "generation toy --source 4": ["toy", "no encoder", "--source"],
    "flops roberta-base --phase prefill --source 4": ["roberta-base", "--source"],
    "flops toy --phase pretrain": ["--phase", "'prefill'"],
    "flops toy --scores half": ["--scores", "'causal'"],
    "flops toy --logits none": ["--logits", "'last'"],
    "kvcache toy --dtype fp17": ["'fp17'", "'fp16'"],
    "kvcache toy --kv int3": ["'int3'", "'int8'"],
    "intensity toy --weights bf15": ["'bf15'", "'bf16'"],
    "params toy --format xml": ["--format", "'markdown'"],
    "params toy --tensor": ["--tensor"],
    "param toy": ["'param'"],
    "shapes": ["MODEL"],
    "get": ["MODEL"],
    "get toy": ["ADDRESS"],
    "get toy params.total flops.total": ["flops.total"],
    "flops roberta-base": ["roberta-base", "no phase 'token'", "--phase prefill"],
    "flops roberta-base --phase token": ["roberta-base", "no phase 'token'", "--phase prefill"],
    "flops roberta-base --phase decode": ["roberta-base", "no phase 'decode'", "--phase prefill"],
    "flops toy roberta-base": ["roberta-base", "no phase 'token'"],
    "kvcache roberta-base": ["roberta-base", "no KV cache", "encoder-only"],
    "kvcache toy roberta-base gpt3": ["roberta-base", "no KV cache"],
    "generation roberta-base": ["roberta-base", "no generation", "encoder-only"],
    "concurrency roberta-base": ["roberta-base", "no concurrency", "encoder-only"],
    "get roberta-base kvcache.token": ["roberta-base", "no KV cache"],
    "get roberta-base kvcache.total": ["roberta-base", "no KV cache"],
    "get roberta-base generation.tokens.ratio": ["roberta-base", "no generation"],
    "get roberta-base intensity.decode": ["roberta-base", "no decode"],
    "get roberta-base intensity.all.decode": ["roberta-base", "no decode"],
    "get roberta-base flops.total": ["roberta-base", "no phase 'token'"],
}


@pytest.mark.parametrize("line", REFUSED)
def test_one_message_and_nothing_else(line: str) -> None:
    code, out, err = run(*line.split())
    assert (code, out) == (2, "")
    *usage, message = err.splitlines()
    assert message.startswith(("Error: ", "txcalc: ") if not usage else "Error: ")
    assert all(text.startswith(("Usage: txcalc", "Try 'txcalc")) or not text for text in usage)
    for words in REFUSED[line]:
        assert words in message


@pytest.mark.parametrize("phase", ["prefill", "train"])
def test_an_encoder_alone_has_the_other_phases(phase: str) -> None:
    assert run("flops", "roberta-base", "--phase", phase).code == 0
    assert run("get", "roberta-base", "intensity.prefill").code == 0


@pytest.mark.parametrize("letters", ["n_layers", "d_model"])
def test_the_largest_sizes_are_answered(letters: str) -> None:
    ran = run("get", "toy", "params.total", "--set", f"{letters}={10**15}")
    assert ran.code == 0
    assert int(ran.out) > 10**18


@pytest.mark.parametrize("command", ["flops", "kvcache", "concurrency", "generation", "show"])
@pytest.mark.parametrize("source", [None, 77])
def test_the_encoders_length_is_told_where_it_counts(command: str, source: int | None) -> None:
    options = [] if source is None else ["--source", source]
    ran = run(command, "bart-base", *options)
    assert ran.code == 0
    assert f"source {source or ''}" in " ".join(ran.out.split())


def test_a_window_of_cross_attention_is_heeded_or_refused(tmp_path: Path) -> None:
    """An option that is accepted and never read would be believed."""
    text = GOOD.replace("{kind: plain", "{kind: glu").replace("blocks:", "blocks:\n" + CROSS)
    text = text.replace("layers:", "encoder: {count: 1, pattern: [reader]}\nlayers:").replace(
        "pattern: [dense,", "pattern: [writer, dense,"
    )
    costs = set()
    for field in ("", ", window: 1"):
        path = tmp_path / "model.yaml"
        path.write_text(
            text.replace("{kind: mha, n_heads: 2}", f"{{kind: mha, n_heads: 2{field}}}")
        )
        ran = run("get", path, "flops.block.writer.cross_attention", "--phase", "prefill")
        costs.add(ran.out)
        assert "window" in ran.err if ran.code else not ran.err
    assert len(costs) == 2
