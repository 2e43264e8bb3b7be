"""What is run: the options of a question, the passes they define, and the keys in reach."""
