"""What a model is built of, and the rows that its parts declare."""
