"""Kinds of sub-layers, one file each, as they are run; those of :mod:`txcalc.model.parts`."""

from txcalc.model.model import Model
from txcalc.model.parts.base import Part
from txcalc.reference.kinds import (  # noqa: F401  each registers what it runs
    attention,
    conv,
    delta,
    ffn,
    linear_attention,
    mamba,
    mixture,
    mla,
    moa,
    rg_lru,
    rwkv,
)
from txcalc.reference.kinds.base import refuse, run

__all__ = ["check", "run"]


def check(model: Model) -> None:
    """Refuses a model with a kind of part that does not run.

    Raises:
        RefusedError: naming the kind.
    """
    for block in model.blocks.values():
        for _, part, _ in block.parts(model.d_model):
            if run.dispatch(type(part)) is run.dispatch(Part):
                refuse(str(part.__struct_config__.tag))
