"""Bundled models by name, in any case, and by the repository that they are from."""

from __future__ import annotations

from pathlib import Path

import pytest

import txcalc
from tests.support.running import BUNDLED, answer, run
from txcalc.errors import UnknownModelError
from txcalc.sources import bundled, yaml


@pytest.mark.parametrize("name", BUNDLED[::7])
def test_a_name_is_found_in_any_case(name: str) -> None:
    assert bundled.find(name.upper()) == bundled.find(name.title()) == bundled.find(name)


REPOSITORIES = {
    "meta-llama/Llama-3.1-70B": "llama-3.1-70b",
    "META-LLAMA/llama-3.1-70b": "llama-3.1-70b",
    "mistralai/Mistral-7B-v0.1": "mistral-7b",
    "deepseek-ai/DeepSeek-V3": "deepseek-v3",
    "openai/gpt-oss-120b": "gpt-oss-120b",
}


@pytest.mark.parametrize(("repository", "name"), REPOSITORIES.items())
def test_a_repository_finds_the_model_that_is_from_it(repository: str, name: str) -> None:
    assert bundled.find(repository) == bundled.find(name)
    assert yaml.read(bundled.find(name))["source"].lower().startswith(f"{repository.lower()},")


@pytest.mark.parametrize("repository", ["meta-llama/Llama-3.1-70B-Instruct", "foo/gpt2-small"])
def test_a_repository_of_a_like_name_is_another_model(repository: str) -> None:
    """A tune may have another vocabulary: only its own config.json says."""
    with pytest.raises(UnknownModelError, match=f"hf:{repository} is its config.json"):
        bundled.find(repository)


def test_a_file_comes_before_a_repository_and_a_name_before_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("openai/gpt-oss-120b", "GPT3", "gpt3"):
        Path(path).mkdir(parents=True)
    assert bundled.find("openai/gpt-oss-120b") == "openai/gpt-oss-120b"
    assert bundled.find("GPT3") == "GPT3"
    assert bundled.find("gpt3").endswith("gpt3.yaml")


def test_models_are_listed_by_a_part_of_the_name_or_a_kind_of_part() -> None:
    assert bundled.having([]) == bundled.names()
    assert bundled.having(["70B"]) == [name for name in BUNDLED if "70b" in name]
    latent = bundled.having(["mla"])
    assert {"deepseek-v3", "kimi-k2"} <= set(latent)
    for name in BUNDLED:
        kinds = {block.attention and type(block.attention).__struct_config__.tag
                 for block in txcalc.load(name).blocks.values()}  # fmt: skip
        assert (name in latent) == ("mla" in kinds), name
    assert set(bundled.having(["MLA", "gpt2"])) == {*latent, *bundled.having(["gpt2"])}
    listed = answer("models", "mla", "--format", "csv")
    assert [line.split(",")[0] for line in listed.splitlines()[1:]] == latent
    assert run("models", "zork").code == 2
