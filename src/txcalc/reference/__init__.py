"""Models run with random weights, every multiply-add and every kept element counted (numpy)."""
