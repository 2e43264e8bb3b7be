"""In which formats a model's weights are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from txcalc.accounts.mixed import Mixed
from txcalc.accounts.tensors import is_matrix, sides
from txcalc.accounts.typed import Typed
from txcalc.errors import OptionError
from txcalc.exact.quantity import Letter, Quantity, const, product, total
from txcalc.model.model import Model, Row
from txcalc.model.rows import Weight
from txcalc.workload.chosen import Chosen, check_names, is_own
from txcalc.workload.formats import NUMBERS, Format, size
from txcalc.workload.mixes import Mix
from txcalc.workload.question import Question
from txcalc.workload.schemes import Scheme

_REST = (None,)
_TABLES = ("embedding", "head")


class Storage:
    """The formats of one model's weights, as a question chooses them.

    A role in a format of its own is so as a whole where that is a flat number; in tiles it has its
    matrices alone, and so has a scheme.  What has no format in tiles is a flat number: the
    scheme's rest in ``--dtype``.  Multi-token-prediction modules are stored with ``mtp``.  A mix
    of GGUF may hold layers of one kind in different formats, as a checkpoint may, each weight of
    which is in its own type; ``layers`` are those that count.

    Raises:
        OptionError: a role that the model has no weights of, modules that it does not have, or a
            model's own formats where it states none.
        RefusedError: a mix for a model that is not like llama, or a checkpoint without its types.
    """

    def __init__(
        self, model: Model, question: Question, *, mtp: bool = False, layers: range | None = None
    ) -> None:
        if is_own(question.weights) and model.stored is None:
            raise OptionError(f"{model.name} states no format that it is stored in: --weights own")
        self.chosen = question.weight_formats(model.stored)
        number = self.chosen.number
        letter = "weight_bytes" if number else "dtype_bytes"
        self.number: Letter = size(number or question.dtype, letter, "parameters")
        self._mtp = mtp
        if mtp and model.mtp is None:
            raise OptionError(f"{model.name} has no multi-token-prediction modules for --mtp")
        self._check_roles(model, question.weight_formats())
        base = self.chosen.base
        self._own = _formats_of_files(model, question, base, layers)

    @property
    def is_flat(self) -> bool:
        """Whether every parameter, and nothing else, is in one flat number."""
        return self.chosen.is_flat and not self._mtp and self._own is None

    def is_stored(self, row: Row) -> bool:
        """Whether a row's bytes count: modules if asked for, buffers if named, no tied weight."""
        weight = row.declared
        if not isinstance(weight, Weight) or weight.tied:
            return False
        if row.component == "mtp" and not self._mtp:
            return False
        return weight.use != "buffer" or "buffers" in self.chosen.named

    def _check_roles(self, model: Model, given: Chosen) -> None:
        """Refuses a format for a role that has nothing to be stored in it."""
        if not given.named:
            return
        roles: dict[str, bool] = {}
        for row in model.rows:
            weight = row.declared
            if isinstance(weight, Weight) and (row.component != "mtp" or self._mtp):
                roles[_role(row)] = roles.get(_role(row), False) or is_matrix(weight)
        check_names("weights", given, roles, model.name)
        for role, fmt in given.named.items():
            if fmt.name not in NUMBERS and not roles[role]:
                raise OptionError(f"--weights {role}={fmt.name}: no matrix for tiles is in {role}")

    def copies(self, row: Row, copies: Quantity) -> Quantity:
        """Bytes of so many copies of a row's weight, of layers in different formats the mean."""
        formats = self.formats(row)
        if len(formats) == 1:
            return self._copies(row, copies, formats[0])
        return self._in_all(row, copies, formats) / const(len(formats))

    def formats(self, row: Row) -> tuple[Format | None, ...]:
        """The format of a row's weight, once or for each layer that has it; None is the rest's."""
        weight, role = row.weight, _role(row)
        named, base = self.chosen.named.get(role), self.chosen.base
        if named is not None and (named.name in NUMBERS or is_matrix(weight)):
            return (named,)
        if self._own is not None:
            return self._own.formats(row)
        return (base.format if isinstance(base, Scheme) and _holds(base, row, weight) else None,)

    def bytes(self, rows: Iterable[Row]) -> Quantity:
        """Bytes of rows in all layers that store them."""
        by_layers: dict[int, list[Row]] = {}
        for row in rows:
            if self.is_stored(row):
                by_layers.setdefault(id(row.layers), []).append(row)
        return total((self._of_layers(group) for group in by_layers.values()), "bytes")

    def _of_layers(self, rows: list[Row]) -> Quantity:
        """Bytes of rows that the same layers have; those of the rest's flat number together."""
        layers = rows[0].layers
        flat: list[Quantity] = []
        tiled: list[Quantity] = []
        apart: list[Quantity] = []
        for row in rows:
            formats, weight = self.formats(row), row.weight
            if formats == _REST:
                flat.append(product(row.times, weight.elements))
            elif len(formats) == 1:
                bytes_ = self._copies(row, weight.copies, formats[0])
                tiled.append(product(row.times, bytes_))
            else:
                apart.append(self._in_all(row, weight.copies, formats))
        each = total((product(total(flat, "parameters"), self.number), *tiled), "bytes")
        return total((each if layers is None else product(layers.sets, each), *apart), "bytes")

    def _in_all(self, row: Row, copies: Quantity, formats: Iterable[Format | None]) -> Quantity:
        """Bytes of a row in layers of these formats."""
        return total(
            (
                product(const(layers), self._copies(row, copies, fmt))
                for fmt, layers in Counter(formats).items()
            ),
            "bytes",
        )

    def _copies(self, row: Row, copies: Quantity, fmt: Format | None) -> Quantity:
        weight = row.weight
        if fmt is None:
            return product(weight.elements_of(copies), self.number)
        return product(copies, fmt.bytes(*sides(weight)))


def _formats_of_files(
    model: Model, question: Question, base: object, layers: range | None
) -> Mixed | Typed | None:
    """What states a format for each weight of each layer: a checkpoint, or the rules of a mix."""
    if question.checkpoint is None:
        return Mixed(model, base, layers) if isinstance(base, Mix) else None
    if question.weights is not None:
        raise OptionError("--weights and --checkpoint both say how the weights are stored")
    return Typed(model, question.checkpoint, layers)


def _role(row: Row) -> str:
    """The role by which a format is chosen: a tied head is in the table's."""
    weight = row.weight
    if weight.use == "buffer":
        return "buffers"
    return "embedding" if weight.tied else row.role


def _holds(scheme: Scheme, row: Row, weight: Weight) -> bool:
    """Whether a scheme holds a weight."""
    if not is_matrix(weight) or "router" in (row.role, weight.role):
        return False
    if scheme.holds == "experts":
        return "experts" in (row.role, weight.role)
    if scheme.holds == "tables" and _role(row) in _TABLES:
        return True
    in_block = row.layers is not None or row.name.startswith("block.")
    return in_block and weight.use == "matmul"
