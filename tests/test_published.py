"""Published figures, and the traps that public calculators fell into."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.running import DATA, save
from tests.test_seeds import agrees, asked

PUBLISHED = yaml.safe_load((DATA / "published.yaml").read_text("utf-8"))


def described(name: str) -> str:
    """A file with the description, or a bundled name."""
    models = PUBLISHED["models"]
    return save({"name": name, **models[name]}) if name in models else name


@pytest.mark.parametrize("row", PUBLISHED["rows"], ids=lambda row: f"{row['id']}-{row['model']}")
def test_a_published_figure(row: dict[str, Any]) -> None:
    value = asked(row | {"model": described(row["model"])})
    assert agrees(value, row["stated"]), float(value)
    assert "not" not in row or not agrees(value, row["not"])


def test_every_described_model_is_asked() -> None:
    assert set(PUBLISHED["models"]) <= {row["model"] for row in PUBLISHED["rows"]}
