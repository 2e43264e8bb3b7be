"""Reports as rich tables, JSON, CSV or Markdown."""
