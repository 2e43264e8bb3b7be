"""A page to play with, and the look that it shares with plots."""
