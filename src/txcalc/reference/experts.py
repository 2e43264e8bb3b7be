"""How many experts a few tokens reach: a mean over routings against the account's estimate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from txcalc.exact.counting import distinct
from txcalc.exact.quantity import const
from txcalc.model.model import Model
from txcalc.model.parts.ffn import Mixture
from txcalc.reference.kinds.mixture import picked
from txcalc.reference.proof import Equality

TOKENS, ROUTINGS, ERRORS = 5, 400, 4
"""Tokens of a routing, routings, and standard errors within which their mean has to be."""


def reached(model: Model) -> Iterator[Equality]:
    """The distinct experts of each kind of mixture, every expert being as likely as any other."""
    rng = np.random.default_rng(2)
    for kind in model.layers:
        part = kind.block.ffn
        if not isinstance(part, Mixture) or part.top_k is None or part.n_zero is not None:
            continue
        row = kind.weights["ffn.up"]
        estimate = distinct(row.copies, row.used, const(TOKENS)).value
        counts = [
            np.unique(
                picked(rng.random((TOKENS, int(part.n_experts.value))), int(part.top_k.value))
            ).size
            for _ in range(ROUTINGS)
        ]
        error = float(np.std(counts, ddof=1)) / ROUTINGS**0.5
        yield Equality(
            about=f"experts, {TOKENS} tokens", address=f"block.{kind.name}: reached, mean",
            run=float(np.mean(counts)), accounted=float(estimate), within=ERRORS * error,
        )  # fmt: skip
