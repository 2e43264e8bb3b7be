"""Figures over ranges of letters, dimensions and models."""
