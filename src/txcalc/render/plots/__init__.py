"""Plots: answers as pictures of lines, areas, points and bars, drawn by matplotlib.

``picture`` says what a picture holds, one file a plot makes it of an answer, and ``drawing``, the
only importer of matplotlib, draws it.
"""
