"""Configs of public classes measured from outside, and which of them txcalc refuses."""

from __future__ import annotations

import json
from typing import Any

from tests.support.running import ORACLE
from txcalc.model.model import Model
from txcalc.sources import description, huggingface, yaml

SETS = ("models", "types", "masked", "seq2seq", "small", "heads")

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    """The rows of a set: a name, a type, a class, a config and what was measured."""
    text = (ORACLE / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def refused(name: str) -> dict[str, str]:
    """The names of a set's refused rows, each with a word of its refusal."""
    listed = yaml.read(str(ORACLE / "refused.yaml"))[name]
    return {row: word for word, names in listed.items() for row in names}


def answered(name: str) -> list[Row]:
    """The other rows of a set: to refuse one of them is a fault."""
    listed = refused(name)
    return [row for row in rows(name) if row["name"] not in listed]


def described(row: Row) -> dict[str, Any]:
    """The description that a row's config means."""
    config = json.dumps({"architectures": [row["class"]], **row["config"]}).encode()
    name = row["name"].replace(":", "-").replace("=", "-").replace("+", "-")
    tree, _, _ = huggingface.describe(config, "config.json", name=name, type_=row["type"])
    return tree


def model_of(row: Row) -> Model:
    """The model of a row; faults of its description are said to be of ``tree``."""
    return description.build(described(row), "tree")
