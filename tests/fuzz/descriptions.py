"""Mutated descriptions: ``python -m tests.fuzz.descriptions --seed 0 --inputs 1000``."""

from __future__ import annotations

import random

from tests.fuzz.campaign import main
from tests.support.fuzz import ask, mutated
from tests.support.running import written


def case(rng: random.Random) -> str:
    """Some accounts of one description."""
    ask(written(mutated(rng), "fuzzed.yaml"), rng)
    return ""


if __name__ == "__main__":
    main(case)
