"""JSON says what an answer rests on."""

from __future__ import annotations

import json

from tests.support.running import answer, save


def test_json_says_what_was_assumed() -> None:
    (report,) = json.loads(answer("kvcache", "gpt2-small", "--ctx", 2000, "--format", "json"))
    assert report["model"] == "gpt2-small"
    assert report["scope"] == "model"
    assert any("2,000" in line for line in report["assumptions"])
    assert any("fp16" in line for line in report["assumptions"])
    assert report["conventions"]
    assert any("beyond the 1,024 learned positions" in line for line in report["warnings"])


def test_a_side_of_a_shape_that_is_no_integer_stands_exactly_too() -> None:
    """2 of 6 experts, and 3 without weights among them: 4/3 of a token's are computed."""
    model = save({
        "name": "a", "source": "none", "d_model": 4, "vocab": 8,
        "blocks": {"moe": {"norm": "rms", "ffn": {
            "kind": "moe", "n_experts": 6, "n_zero": 3, "top_k": 2, "d_expert": 5,
        }}},
        "layers": {"count": 1, "pattern": ["moe"]}, "head": {"tied": True},
    })  # fmt: skip
    (report,) = json.loads(answer("shapes", model, "--format", "json"))
    of = {row["address"]: row for row in report["rows"]}
    assert of["shapes.block.ffn.gate"]["exact"] == ["1", "8", "4/3", "5"]
    assert of["shapes.block.ffn.gate"]["value"] == [1, 8, 4 / 3, 5]
    assert "exact" not in of["shapes.block.ffn.router"]
