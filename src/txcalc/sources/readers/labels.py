"""How many labels a classifier has."""

from __future__ import annotations

from txcalc.sources.readers.config import Config


def n_labels(c: Config) -> int:
    """``num_labels``, else the entries of ``id2label``, else the 2 that every class assumes."""
    named = c.raw("id2label")
    if named is not None and not isinstance(named, dict):
        c.refuse("id2label", "an object with a name for each label is needed")
    return c.size("num_labels", default=len(named) if named else 2)
