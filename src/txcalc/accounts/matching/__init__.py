"""The rows of a model in the tensors of a checkpoint: what is where, and what differs."""
