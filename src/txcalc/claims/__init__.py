"""Documented numbers: read as they are written, computed, compared, and refreshed."""
