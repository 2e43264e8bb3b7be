"""A model at the sizes of a sweep: built anew at each, and derived alike or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from txcalc.accounts import ask
from txcalc.accounts.question import Question
from txcalc.errors import OptionError
from txcalc.quantity import Quantity, same_structure
from txcalc.sources import edits
from txcalc.sources.load import built

MOST_SEEN = 100_000
"""Combinations of sizes that are remembered as derived alike."""
Sizes = Mapping[str, int]


class Sized:
    """Figures of a model as derivations that hold at all sizes of its dimensions.

    ``places`` tells of each path of a dimension which of the names set it.

    Raises:
        TxcalcError: a name that is no dimension; sizes, addresses or a question that are refused.
    """

    def __init__(
        self, tree: Any, file: str, sizes: Sizes, addresses: Sequence[str], question: Question
    ) -> None:
        self._tree, self._file = tree, file
        self._addresses, self._question = addresses, question
        self.places = {path: name for name in sizes for path in self._places(name)}
        self._first = dict(sizes)
        self.figures = self._at(sizes)
        self._seen = {tuple(sizes.values())}

    def check(self, sizes: Sizes) -> None:
        """Makes sure that the derivations are those of a model with these sizes.

        Raises:
            OptionError: a dimension that changes the structure.
            TxcalcError: whatever a model with these sizes is refused for.
        """
        values = tuple(sizes.values())
        if values in self._seen:
            return
        for address, first, here in zip(
            self._addresses, self.figures, self._at(sizes), strict=True
        ):
            if not same_structure(first, here, self.places):
                raise OptionError(self._refusal(address, sizes))
        if len(self._seen) >= MOST_SEEN:
            self._seen.clear()
        self._seen.add(values)

    def _at(self, sizes: Sizes) -> list[Quantity]:
        changes = [f"{name}={value}" for name, value in sizes.items()]
        model = built(deepcopy(self._tree), self._file, changes, "--over")
        return [ask.report_of(a, model, self._question).find(a) for a in self._addresses]

    def _places(self, name: str) -> list[str]:
        try:
            paths = edits.places(self._tree, name, self._file)
        except OptionError as error:
            raise OptionError(f"--over {name}: {error}") from None
        for path in paths:
            old = edits.get(self._tree, path)
            if old is not None and (isinstance(old, bool) or not isinstance(old, int)):
                raise OptionError(
                    f"--over {name}: {'.'.join(path)} is no dimension, it changes the structure: "
                    f"choose it with --set {name}=V, or sweep over models"
                )
        return [".".join(path) for path in paths]

    def _refusal(self, address: str, sizes: Sizes) -> str:
        moved = [name for name, value in sizes.items() if value != self._first[name]]
        there, here = (
            " ".join(f"{name}={values[name]}" for name in moved) for values in (sizes, self._first)
        )
        return (
            f"--over {' and '.join(moved)}: {there} changes the structure: {address} is derived "
            f"otherwise than with {here}; ask for it alone, with --set {there}"
        )
