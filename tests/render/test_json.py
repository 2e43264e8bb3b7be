"""JSON says what an answer rests on."""

from __future__ import annotations

import json

from tests.support.running import answer


def test_json_says_what_was_assumed() -> None:
    (report,) = json.loads(answer("kvcache", "gpt2-small", "--ctx", 2000, "--format", "json"))
    assert report["model"] == "gpt2-small"
    assert report["scope"] == "model"
    assert any("2,000" in line for line in report["assumptions"])
    assert any("fp16" in line for line in report["assumptions"])
    assert report["conventions"]
    assert any("beyond the 1,024 learned positions" in line for line in report["warnings"])
