"""What families share: a config.json read key by key, and the pieces of a description."""
