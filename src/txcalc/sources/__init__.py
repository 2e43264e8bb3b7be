"""Where models come from: bundled names and files."""
