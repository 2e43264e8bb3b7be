"""Readers of pages, one a format: the comments of a page, and the text that each stands after."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import cast

from txcalc.claims.readers.comment import Comment

READERS = {
    ".md": "markdown", ".markdown": "markdown", ".qmd": "markdown", ".mdx": "mdx",
    ".rst": "rst", ".tex": "tex", ".ipynb": "notebook",
}  # fmt: skip
"""The endings of pages, each with the module that reads them."""


def comments(text: str, ending: str) -> Iterator[Comment]:
    """Every comment of a page that may be a claim, in order.

    Raises:
        PageError: a page that its format does not allow, or that is too large.
    """
    reader = import_module(f"{__name__}.{READERS[ending]}")
    return cast(Iterator[Comment], reader.comments(text))
