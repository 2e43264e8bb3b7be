"""What can go wrong, and the exit code each kind ends with."""

LONGEST = 900
"""Characters of a message; what is longer repeats some input at a length that helps nobody."""
COMPARED = 1000
"""Names that one which is not known is compared with, at most."""


class TxcalcError(Exception):
    """Any error that a user can cause; its text says what, where, and what would be right."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        half = LONGEST // 2
        long = len(message) > LONGEST
        super().__init__(f"{message[:half]} ... {message[-half:]}" if long else message)


class DescriptionError(TxcalcError):
    """A model description that cannot be read or that contradicts itself."""

    def __init__(self, message: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)


class UnknownModelError(TxcalcError):
    """A name that is neither a bundled model nor a readable file."""


class AddressError(TxcalcError):
    """An address that names no figure, or more than one."""


class OptionError(TxcalcError):
    """An option whose value cannot be used."""


class RefusedError(TxcalcError):
    """A question that a model has no exact answer to."""


class UnprovedError(TxcalcError):
    """A run that contradicts the account of what it runs."""

    exit_code = 1


class UnitError(TypeError):
    """Two quantities that cannot be combined: a fault of the program, never of its input."""


def nearest(name: str, known: list[str], *, cutoff: float = 0.5) -> str:
    """A hint like ``; did you mean 'a' or 'b'?``, or what there is to choose from.

    A name is meant where its letters are alike to ``cutoff`` (difflib's ratio).  Of very many
    names, or long ones, only the first are compared: the time has a bound.
    """
    from difflib import get_close_matches

    spelled = {word.lower(): word for word in known[:COMPARED] if len(word) <= 100}
    close = get_close_matches(name[:100].lower(), spelled, n=3, cutoff=cutoff)
    if close:
        return "; did you mean " + " or ".join(repr(spelled[c]) for c in close) + "?"
    if not known:
        return "; there are none"
    return "; known: " + ", ".join(known) if len(known) <= 24 else ""
