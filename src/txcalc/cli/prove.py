"""``txcalc prove``: a description run, and its accounts compared with the run."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from txcalc.cli import options as opt
from txcalc.cli.output import Models, emit
from txcalc.errors import OptionError

Format = Literal["table", "json"]
EXTRA = "prove needs numpy: install txcalc with its extra 'proof'"


def prove(
    models: Models,
    ctx: Annotated[
        int | None, typer.Option(parser=opt.whole, metavar="T", help="tokens run; default: 9")
    ] = None,
    fmt: Annotated[Format, typer.Option("--format", help="how it is written")] = "table",
) -> None:
    """Exits with 1 where a number of the run is not the account's.

    Raises:
        OptionError: numpy is not installed.
    """
    try:
        from txcalc.reference.prove import prove as proved
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise OptionError(EXTRA) from None
    from txcalc.render.proof import proof_json, proof_table
    from txcalc.sources.loading import described

    [name] = models.names or []
    tree, file, warnings = described(
        name, models.changes or (), type_=models.type_, strict=models.strict
    )
    proof = proved(tree, file, ctx)
    emit(proof_json(proof) if fmt == "json" else proof_table(proof), warnings)
    if not proof.holds:
        raise typer.Exit(1)
