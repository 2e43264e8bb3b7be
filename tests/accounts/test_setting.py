"""The lengths of a question for a model."""

from __future__ import annotations

import pytest

from tests.support.running import answer, get


def test_whispers_encoder_is_as_long_as_its_padded_input() -> None:
    """30 s of sound are 1,500 frames (arXiv:2212.04356 section 2.2); 32 layers, 1,280 channels."""
    padded = 32 * 1500 * 2 * 1280 * 2
    assert get("whisper-large-v2", "kvcache.cross") == padded == 245_760_000
    assert get("whisper-large-v2", "kvcache.cross", "--ctx", 7) == padded
    assert get("whisper-large-v2", "kvcache.cross", "--source", 3) == 32 * 3 * 2 * 1280 * 2


@pytest.mark.parametrize("command", ["flops", "kvcache", "concurrency", "generation", "show"])
def test_a_stated_length_is_said_to_be_the_models_own(command: str) -> None:
    shown = " ".join(answer(command, "whisper-large-v2").split())
    assert "source 1,500 (the model's own)" in shown


def test_elsewhere_the_encoder_is_as_long_as_the_decoder() -> None:
    assert get("bart-base", "kvcache.cross", "--ctx", 9) == 6 * 9 * 2 * 768 * 2
