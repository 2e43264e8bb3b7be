"""The screen in brief says what each account says."""

from __future__ import annotations

import pytest

from tests.support.running import MODELS, data, figures, get, named, run


@pytest.mark.parametrize("name", MODELS)
def test_the_brief_is_what_each_account_says(name: str) -> None:
    brief = figures("show", name)
    phase = () if named(name).has_decoder else ("--phase", "prefill")
    assert {"params.total", "flops.total", "weights.bytes" if not phase else "params.total"} <= set(
        brief
    )
    for address, value in brief.items():
        options = phase if address.startswith("flops.") else ()
        assert get(name, address, *options) == value, address


def test_an_encoder_alone_is_told_what_it_lacks() -> None:
    code, out, err = run("show", "roberta-base")
    assert code == 0
    assert "124,697,433" in out
    for missing in ("KV cache", "concurrency", "generation"):
        assert f"txcalc: warning: roberta-base: no {missing}: an encoder-only model" in err


def test_several_models_stand_side_by_side_each_as_alone() -> None:
    options = ("--batch", 3, "--prompt", 77, "--new", 5)
    names = ("gpt3", "roberta-base", "mixtral-8x7b")
    assert [*data("show", *names, *options)] == [data("show", n, *options)[0] for n in names]


@pytest.mark.parametrize(
    ("option", "address"),
    [
        (("--batch", 3), "intensity.decode"),
        (("--prompt", 77), "intensity.prefill"),
        (("--prompt", 77), "generation.tokens.ratio"),
        (("--new", 5), "generation.tokens.ratio"),
    ],
)
def test_an_option_moves_its_figure(option: tuple[str, int], address: str) -> None:
    assert figures("show", "gpt3", *option)[address] == get("gpt3", address, *option)
    assert figures("show", "gpt3", *option)[address] != get("gpt3", address)


@pytest.mark.parametrize(
    ("name", "warned"),
    [("toy", 1024), ("gpt2-small", 1024), ("gpt3", 2048), ("bart-base", 1024)],
)
def test_a_context_beyond_the_learned_positions_warns_and_answers(name: str, warned: int) -> None:
    at_most = run("kvcache", name, "--ctx", warned)
    beyond = run("kvcache", name, "--ctx", warned + 1)
    assert (at_most.code, at_most.err) == (0, "")
    assert beyond.code == 0
    assert (
        f"warning: {name}: ctx {warned + 1:,} is beyond the {warned:,} learned positions"
        in beyond.err
    )
    assert beyond.out.startswith("KV cache")


@pytest.mark.parametrize("command", ["flops", "kvcache", "intensity", "concurrency", "show"])
def test_every_account_of_a_context_warns(command: str) -> None:
    ran = run(command, "gpt2-small", "--ctx", 2000)
    assert ran.code == 0
    assert "ctx 2,000 is beyond the 1,024 learned positions" in ran.err
    assert run(command, "transformer-base", "--ctx", 2000).err == ""


def test_generation_warns_of_its_last_context() -> None:
    assert run("generation", "toy", "--prompt", 1000, "--new", 25).err == ""
    ran = run("generation", "toy", "--prompt", 1000, "--new", 26)
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    assert "1,025 is beyond the 1,024 learned positions" in ran.err
