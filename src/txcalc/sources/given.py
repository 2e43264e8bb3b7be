"""Options of a question that name files: a device, a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_files(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with what their files hold in the place of names."""
    read = dict(options)
    if isinstance(read.get("device"), str):
        from txcalc.sources.devices import load_device

        read["device"] = load_device(read["device"])
    if isinstance(read.get("checkpoint"), str):
        from txcalc.sources.checkpoints import load_checkpoint

        read["checkpoint"] = load_checkpoint(read["checkpoint"])
    return read
