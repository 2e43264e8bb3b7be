"""In which formats a model's weights are stored."""

from __future__ import annotations

from collections.abc import Iterable

from txcalc.errors import OptionError
from txcalc.exact.quantity import Letter, Quantity, product, total
from txcalc.model.model import Model, Row
from txcalc.model.rows import Weight
from txcalc.workload.chosen import check_names
from txcalc.workload.formats import NUMBERS, Format
from txcalc.workload.question import Question
from txcalc.workload.schemes import Scheme

_TABLES = ("embedding", "head")


class Storage:
    """The formats of one model's weights, as a question chooses them.

    A role in a format of its own is so as a whole where that is a flat number; in tiles it has its
    matrices alone, and so has a scheme.  What has no format in tiles is a flat number: the
    scheme's rest in ``--dtype``.  Multi-token-prediction modules are stored with ``mtp``.

    Raises:
        OptionError: a role that the model has no weights of, or modules that it does not have.
    """

    def __init__(self, model: Model, question: Question, *, mtp: bool = False) -> None:
        self.chosen = question.weight_formats
        self.number: Letter = question.weight_bytes
        self._mtp = mtp
        if mtp and model.mtp is None:
            raise OptionError(f"{model.name} has no multi-token-prediction modules for --mtp")
        self._check_roles(model)

    def is_stored(self, row: Row) -> bool:
        """Whether a row's bytes count: modules if asked for, buffers if named, no tied weight."""
        weight = row.declared
        if not isinstance(weight, Weight) or weight.tied:
            return False
        if row.component == "mtp" and not self._mtp:
            return False
        return weight.use != "buffer" or "buffers" in self.chosen.named

    def _check_roles(self, model: Model) -> None:
        """Refuses a format for a role that has nothing to be stored in it."""
        roles: dict[str, bool] = {}
        for row in model.rows:
            weight = row.declared
            if isinstance(weight, Weight) and (row.component != "mtp" or self._mtp):
                roles[_role(row)] = roles.get(_role(row), False) or is_matrix(weight)
        check_names("weights", self.chosen, roles, model.name)
        for role, fmt in self.chosen.named.items():
            if fmt.name not in NUMBERS and not roles[role]:
                raise OptionError(f"--weights {role}={fmt.name}: no matrix for tiles is in {role}")

    def copies(self, row: Row, copies: Quantity) -> Quantity:
        """Bytes of so many copies of a row's weight."""
        weight = row.declared
        assert isinstance(weight, Weight)
        fmt = self._format(row, weight)
        if fmt is None:
            elements = product(copies, weight.each)
            return product(elements.counted_as("parameters"), self.number)
        return product(copies, fmt.bytes(*sides(weight)))

    def bytes(self, rows: Iterable[Row]) -> Quantity:
        """Bytes of rows in all layers that store them."""
        by_layers: dict[int, list[Row]] = {}
        for row in rows:
            if self.is_stored(row):
                by_layers.setdefault(id(row.layers), []).append(row)
        return total((self._of_layers(group) for group in by_layers.values()), "bytes")

    def _of_layers(self, rows: list[Row]) -> Quantity:
        """Bytes of rows that the same layers have."""
        layers = rows[0].layers
        each = total((product(row.times, self._each(row)) for row in rows), "bytes")
        return each if layers is None else product(layers.sets, each)

    def _each(self, row: Row) -> Quantity:
        assert isinstance(row.declared, Weight)
        return self.copies(row, row.declared.copies)

    def _format(self, row: Row, weight: Weight) -> Format | None:
        """A format in which a row's weight is not one of the flat numbers of the rest."""
        role = _role(row)
        named = self.chosen.named.get(role)
        if named is not None and (named.name in NUMBERS or is_matrix(weight)):
            return named
        base = self.chosen.base
        return base.format if isinstance(base, Scheme) and _holds(base, row, weight) else None


def sides(weight: Weight) -> tuple[Quantity, Quantity]:
    """Rows and columns of a tensor as it is stored; of a vector one row."""
    rows, columns = weight.outputs, weight.inputs
    if weight.use == "lookup":
        rows, columns = columns, rows
    elif weight.use != "matmul":
        rows, columns = (), (*rows, *columns)
    return product(*rows), product(*columns)


def is_matrix(weight: Weight) -> bool:
    """Whether a tensor has rows and columns, and so tiles: no norm, bias, filter or lone row."""
    if weight.use not in ("matmul", "lookup") or weight.depthwise:
        return False
    return all(side.value > 1 for side in sides(weight))


def _role(row: Row) -> str:
    """The role by which a format is chosen: a tied head is in the table's."""
    weight = row.declared
    assert isinstance(weight, Weight)
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
