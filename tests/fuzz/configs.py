"""Mutated configs of Hugging Face: ``python -m tests.fuzz.configs --seed 0 --inputs 1000``."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.fuzz.campaign import main
from tests.support.fuzz import ask, broken, mutated
from tests.support.oracle import SETS, rows
from tests.support.running import written

CONFIGS: list[dict[str, Any]] = [
    {"model_type": row.get("type"), "architectures": [row.get("class")], **row["config"]}
    for name in (*SETS, "remote")
    for row in rows(name)
]
TEXTS = [json.dumps(config) for config in CONFIGS]
NESTED = ("text_config", "llm_config", "language_config", "thinker_config", "decoder")


def case(rng: random.Random) -> str:
    """Some accounts of one config.json."""
    raw = mutated(rng, TEXTS) if rng.random() < 0.5 else _mixed(rng)
    ask(written(raw, "config.json"), rng)
    return ""


def _mixed(rng: random.Random) -> bytes:
    """A config with keys of others, without some of its own, or inside another."""
    config = dict(rng.choice(CONFIGS))
    for key in rng.sample(list(config), rng.choice((0, 0, 1, 2))):
        del config[key]
    for _ in range(rng.choice((0, 1, 1, 3))):
        other = rng.choice(CONFIGS)
        key = rng.choice(list(other))
        config[key] = other[key]
    if rng.random() < 0.2:
        config = dict(rng.choice(CONFIGS)) | {rng.choice(NESTED): config}
    raw = json.dumps(config).encode()
    return broken(rng, raw) if rng.random() < 0.05 else raw


if __name__ == "__main__":
    main(case)
