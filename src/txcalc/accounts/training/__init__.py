"""Training: what a step computes, and by whose count."""
