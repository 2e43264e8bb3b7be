"""Exact numbers that remember how they came to be, and what can be made of that."""
