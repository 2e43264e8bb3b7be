"""A model at the sizes of a sweep, built at each; one that changes a derivation is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from txcalc.accounts import registry
from txcalc.errors import OptionError
from txcalc.exact.quantity import Letter, Quantity, same_structure, walk
from txcalc.model.model import Model
from txcalc.sources import edits
from txcalc.sources.loading import built
from txcalc.sources.places import Places, get, is_size
from txcalc.workload.question import Question

Sizes = Mapping[str, int]


class Sized:
    """Figures of a model as derivations that hold at all sizes of its dimensions.

    ``changes`` are made at every size; ``places`` says of each path of a dimension which of the
    names sets it, ``notes`` what a reader may have expected to change with it.

    Raises:
        TxcalcError: a name that is no dimension; sizes, addresses or a question that are refused.
    """

    def __init__(
        self,
        tree: Any,
        file: str,
        sizes: Sizes,
        addresses: Sequence[str],
        question: Question,
        changes: Sequence[str] = (),
    ) -> None:
        self._tree, self._file, self._changes = tree, file, changes
        changed = edits.apply(tree, file, edits.parse_edits(changes))
        self._edited = Places(changed.tree, file)
        self._setters = {place: str(edit) for place, edit in changed.done.items()}
        self._addresses, self._question = addresses, question
        self.places: dict[str, str] = {}
        self.notes: dict[str, None] = {}
        for name in sizes:
            self._place(name)
        self._first = dict(sizes)
        self.figures = self._at(sizes)

    def check(self, sizes: Sizes) -> None:
        """Makes sure that the derivations are those of a model with these sizes.

        Raises:
            OptionError: a dimension that changes the structure.
            TxcalcError: whatever a model with these sizes is refused for.
        """
        if sizes == self._first:
            return
        for address, first, here in zip(
            self._addresses, self.figures, self._at(sizes), strict=True
        ):
            if not same_structure(first, here, self.places):
                raise OptionError(self._refusal(address, sizes))

    def depends_on(self, name: str) -> bool:
        """Whether any of the figures is derived from a letter, or from a dimension of that name."""
        return any(
            self.places.get(node.path, node.name) == name
            for figure in self.figures
            for node in walk(figure)
            if isinstance(node, Letter)
        )

    def warnings(self, question: Question) -> list[str]:
        """What single answers to another question would warn of.

        Raises:
            TxcalcError: whatever they would be refused for.
        """
        model = self._built(self._first)
        warnings = []
        for address in self._addresses:
            report = registry.report_of(address, model, question)
            report.find(address)
            warnings += report.warnings
        return warnings

    def _at(self, sizes: Sizes) -> list[Quantity]:
        model = self._built(sizes)
        return [registry.report_of(a, model, self._question).find(a) for a in self._addresses]

    def _built(self, sizes: Sizes) -> Model:
        model = built(self._tree, self._file, self._changes, sizes)
        self.notes |= dict.fromkeys(model.warnings)
        return model

    def _place(self, name: str) -> None:
        try:
            paths = self._edited.of(name)
        except OptionError as error:
            raise OptionError(f"{self._file}: --over {name}: {error}") from None
        for path in paths:
            place, old = ".".join(path), get(self._edited.tree, path)
            if old is not None and not is_size(old):
                raise OptionError(
                    f"--over {name}: {place} is no dimension, it changes the structure: "
                    f"choose it with --set {name}=V, or sweep over models"
                )
            if place in self._setters:
                both = f"{self._setters[place]} and --over {name}"
                raise OptionError(f"{both} both set {place}: one of them")
            self.places[place] = name
            self._setters[place] = f"--over {name}"

    def _refusal(self, address: str, sizes: Sizes) -> str:
        moved = [name for name, value in sizes.items() if value != self._first[name]]
        there, here = (
            " ".join(f"{name}={values[name]}" for name in moved) for values in (sizes, self._first)
        )
        return (
            f"--over {' and '.join(moved)}: {there} changes the structure: {address} is derived "
            f"otherwise than with {here}; ask for it alone, with --set {there}"
        )
