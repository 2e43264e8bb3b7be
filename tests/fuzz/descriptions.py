"""Mutated descriptions: ``python -m tests.fuzz.descriptions --seed 0 --inputs 1000``."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz.campaign import main
from tests.support.fuzz import ask_everything, mutated
from tests.support.running import save


def case(rng: random.Random) -> str:
    """Every account of one description."""
    path = Path(save({}, "fuzzed.yaml"))
    path.write_bytes(mutated(rng))
    ask_everything(str(path), rng)
    return ""


if __name__ == "__main__":
    main(case)
