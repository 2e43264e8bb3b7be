"""Exact accounting of transformer language models, from a description alone."""

__version__ = "0.1.0"
