"""A progress bar on standard error, which leaves nothing behind."""

from rich.console import Console
from rich.progress import Progress


def bar() -> Progress:
    """The bar, not shown yet."""
    return Progress(console=Console(stderr=True), transient=True)
