"""Exact accounting of transformer language models, from a description alone."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import takes longer than Ctrl-C may have to wait

if TYPE_CHECKING:
    from typing import Any

    from txcalc.errors import TxcalcError
    from txcalc.library import (
        Answer,
        concurrency,
        explain,
        fit,
        flops,
        function,
        generation,
        get,
        image,
        intensity,
        kvcache,
        load,
        memory,
        models,
        params,
        regimes,
        roofline,
        sweep,
        train,
        trainmem,
        verify,
        weights,
    )

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "TxcalcError",
    "audio",
    "concurrency",
    "explain",
    "fit",
    "flops",
    "function",
    "generation",
    "get",
    "image",
    "intensity",
    "kvcache",
    "load",
    "memory",
    "models",
    "params",
    "regimes",
    "roofline",
    "sweep",
    "train",
    "trainmem",
    "verify",
    "weights",
]


def __getattr__(name: str) -> Any:
    """Names of the library, imported when they are first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from txcalc import errors, library

    return getattr(errors if name == "TxcalcError" else library, name)
