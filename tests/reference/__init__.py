"""Models run, and their accounts compared with the run."""
