"""Warnings of lengths beyond learned positions: of each length, of each stack, each once."""

from __future__ import annotations

import re

import pytest

from tests.support.running import Run, run

ENCODER, DECODER = ("source 3,000", "encoder"), ("ctx 3,000", "decoder")


def warned_of(ran: Run) -> list[tuple[str, str]]:
    """The lengths that are beyond learned positions, and the stack of each."""
    assert ran.code == 0
    lines = ran.err.splitlines()
    assert all(line.startswith("txcalc: warning: ") for line in lines)
    pattern = r": (\w+ [0-9,]+) is beyond the [0-9,]+ learned positions of its (\w+)"
    found: list[tuple[str, str]] = re.findall(pattern, ran.err)
    assert len(found) == len(lines)
    return found


@pytest.mark.parametrize("command", ["flops", "kvcache", "intensity", "concurrency", "show"])
@pytest.mark.parametrize(
    ("source", "ctx", "warned"),
    [(8, 8, []), (3000, 8, [ENCODER]), (8, 3000, [DECODER]), (3000, 3000, [ENCODER, DECODER])],
)
def test_an_encoder_is_as_long_as_the_source_and_a_decoder_as_the_context(
    command: str, source: int, ctx: int, warned: list[tuple[str, str]]
) -> None:
    ran = run(command, "bart-base", "--source", source, "--ctx", ctx)
    assert warned_of(ran) == warned


def test_the_encoder_is_as_long_as_the_context_where_no_source_is_given() -> None:
    assert warned_of(run("kvcache", "bart-base", "--ctx", 3000)) == [ENCODER, DECODER]


def test_an_encoder_alone_is_as_long_as_the_context() -> None:
    asked = ("flops", "roberta-base", "--phase", "prefill", "--ctx")
    assert run(*asked, 512).err == ""
    assert "ctx 513 is beyond the 512 learned positions of its encoder" in run(*asked, 513).err


@pytest.mark.parametrize(
    ("prompt", "ctx", "warned"),
    [
        (10, 20, []),
        (3000, 10, ["prompt 3,000"]),
        (10, 3000, ["ctx 3,000"]),
        (3000, 4000, ["prompt 3,000", "ctx 4,000"]),
    ],
)
def test_intensity_warns_of_its_prompt_and_of_its_context(
    prompt: int, ctx: int, warned: list[str]
) -> None:
    ran = run("intensity", "gpt2-small", "--prompt", prompt, "--ctx", ctx)
    assert warned_of(ran) == [(length, "decoder") for length in warned]


def test_intensity_warns_once_of_one_length() -> None:
    assert warned_of(run("intensity", "gpt2-small", "--ctx", 3000)) == [DECODER]


def test_a_warning_is_printed_once_however_many_models_have_it() -> None:
    ran = run("flops", "gpt2-small", "gpt2-small", "gpt2-medium", "--ctx", 3000)
    assert warned_of(ran) == [DECODER, DECODER]
    models = [line.split(": ")[2] for line in ran.err.splitlines()]
    assert models == ["gpt2-small", "gpt2-medium"]
