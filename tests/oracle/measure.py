"""Measures the configs of this folder again: parameters of the public classes on the meta device.

Run by hand in an environment of its own, never by the test suite::

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.13.0 transformers==5.24.0
    /somewhere/bin/python tests/oracle/measure.py tests/oracle/models.jsonl [NAME ...]

It prints each row whose total differs; rows with ``because`` say why theirs does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def measured(row: dict[str, Any]) -> int:
    """Parameters of the class that a row names, tied weights once."""
    import torch
    import transformers

    class_ = getattr(transformers, row["class"])
    tree = row["config"]
    if tree.get("model_type", row["type"]) != row["type"]:
        tree = tree["text_config"]
    config = transformers.AutoConfig.for_model(row["type"], **without_type(tree))
    with torch.device("meta"):
        model = class_(config)
    model.tie_weights()
    return sum({id(p): p.numel() for p in model.parameters()}.values())


def without_type(config: dict[str, Any]) -> dict[str, Any]:
    """The config but for the key that names its type."""
    return {key: value for key, value in config.items() if key != "model_type"}


def main(path: str, *names: str) -> int:
    """Compares the rows of a file, or those named; returns how many differ."""
    differing = 0
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if names and row["name"] not in names:
            continue
        total = measured(row)
        if total != row["total"]:
            differing += "because" not in row
            print(row["name"], total, row["total"], row.get("because", "DIFFERS"))
    return differing


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) > 0)
