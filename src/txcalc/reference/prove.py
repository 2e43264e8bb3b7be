"""The proof of one description: scaled where it is large, run, and compared."""

from __future__ import annotations

from typing import Any

from txcalc.accounts import registry
from txcalc.errors import DescriptionError, OptionError, RefusedError
from txcalc.model.model import Model
from txcalc.model.parts.positions import Learned
from txcalc.reference.equalities import Equalities, Lengths
from txcalc.reference.kinds import check
from txcalc.reference.proof import Proof
from txcalc.reference.scaling import LONGEST, Scaled
from txcalc.sources import description
from txcalc.workload.question import Question

SMALL, LARGEST = 10**6, 10**8
"""Parameters up to which a model runs as it is, and those above which it does not run."""
CTX, SOURCE, BATCH = 9, 7, 2
"""Lengths where none are given: no two alike, and longer than a scaled window."""


def prove(tree: Any, file: str, ctx: int | None = None) -> Proof:
    """Runs the model of a description tree, and compares.

    Raises:
        RefusedError: a kind that does not run, or a model too large even when it is scaled.
        UnprovedError: a row that does not run as the architecture says.
        OptionError: a ctx that a run does not allow.
    """
    model = description.build(tree, file)
    check(model)
    changes = []
    if _parameters(model) > SMALL:
        scaled = Scaled(tree)
        try:
            model = description.build(scaled.tree, f"{file}, scaled")
        except DescriptionError as error:
            raise RefusedError(f"{model.name} cannot be scaled by rule: {error}") from None
        changes = list(scaled.changes)
    held = _parameters(model)
    if held > LARGEST:
        raise RefusedError(
            f"{model.name}: {held:,} parameters, of which at most {LARGEST:,} are run: "
            "take a smaller one with --set"
        )
    lengths = _lengths(model, ctx)
    return Proof(
        model=model.name,
        ran=_ran(lengths),
        scaled=changes,
        equalities=list(Equalities(model, lengths).every()),
    )


def _parameters(model: Model) -> int:
    return int(registry.account("params", model, Question()).figures["params.total"].value)


def _lengths(model: Model, ctx: int | None) -> Lengths:
    if ctx is not None and not 2 <= ctx <= LONGEST:
        raise OptionError(f"--ctx {ctx}: a run has from 2 to {LONGEST} tokens")
    main = "decoder" if model.has_decoder else "encoder"
    source = None
    if model.has_encoder and model.has_decoder:
        padded = model.stacks["encoder"].length
        source = _within(model, "encoder", SOURCE) if padded is None else int(padded.value)
    return Lengths(ctx=ctx or _within(model, main, CTX), source=source, batch=BATCH)


def _within(model: Model, stack: str, tokens: int) -> int:
    """So many tokens and one more, or as many as a stack has positions for."""
    positions = model.stacks[stack].positions
    if not isinstance(positions, Learned):
        return tokens
    learned = int(positions.n_positions.value)
    if learned < 3:
        raise RefusedError(f"{model.name}: {learned} learned positions are too few for a run")
    return min(tokens, learned - 1)


def _ran(lengths: Lengths) -> str:
    source = "" if lengths.source is None else f", source {lengths.source}"
    return f"batch {lengths.batch}, ctx {lengths.ctx}{source}"
