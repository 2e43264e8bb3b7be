"""Kinds of sub-layers, one file each: weights, products without a weight, state."""
