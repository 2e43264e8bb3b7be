"""Whether a checkpoint holds the model: its tensors against the rows, by headers alone."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from txcalc.accounts import params
from txcalc.accounts.account import Account
from txcalc.accounts.matching.differences import Holding
from txcalc.accounts.matching.matching import Matching, matched
from txcalc.errors import RefusedError
from txcalc.exact.quantity import Letter, Quantity, const, total
from txcalc.model.model import Model
from txcalc.report.report import Figures, Report
from txcalc.workload.checkpoint import Checkpoint, StoredTensor
from txcalc.workload.question import Question

CONVENTIONS = [
    "headers alone are read: names, shapes, types and bytes",
    "not seen in a header: tensors of one shape swapped, heads, rotary settings, activations",
]
_PARTS = {
    "rows": "elements of rows",
    "mtp": "elements of modules for further tokens",
    "tied_stored": "elements that are stored again though tied",
    "buffers": "elements that are no parameters",
    "scales": "elements that quantisation keeps beside weights",
    "uncovered": "elements of what the description does not cover",
    "extra": "elements of what no row needs",
}
_COUNTED = {
    "missing": "missing", "extra": "extra", "other_shape": "other shape",
    "other_dtype": "other type",
}  # fmt: skip
"""Figures of differences, and what those are called."""
_NAMES_ONLY = "an index without its shards holds names only"
_SHOWN = 4
"""Tensors that a line names."""


def report(model: Model, question: Question) -> Report:
    """Tensors, elements and bytes by what they are, and each difference.

    Raises:
        RefusedError: no checkpoint is named.
    """
    checkpoint = question.checkpoint
    if checkpoint is None:
        raise RefusedError(f"{model.name}: no verify without a --checkpoint")
    found = matched(model, checkpoint)
    figures = _figures(found, checkpoint)
    refused = {}
    if checkpoint.names_only:
        refused = {f"verify.{name}": _NAMES_ONLY for name in ("elements", "bytes")}
    return Report(
        title="checkpoint",
        figures=figures,
        shown=[a for a in figures if figures[a].value or a.count(".") == 1],
        lead=[
            *_equation(model, figures),
            *_stated_size(model, found, checkpoint),
            *_named(found),
        ],
        differences=found.differences,
        refused=refused,
        assumptions=[f"checkpoint {checkpoint.source}"],
        conventions=CONVENTIONS,
    )


def verdict(report: Report, *, strict: bool) -> tuple[bool, str]:
    """Whether a report's checkpoint holds the model, and that in a sentence.

    With ``strict`` buffers and what is stored though tied are differences.
    """
    counted = {what: report.figures[f"verify.{name}"].value for name, what in _COUNTED.items()}
    if strict:
        counted["of buffers"] = report.figures["verify.buffers"].value
        counted["stored though tied"] = report.figures["verify.tied_stored"].value
    listed = ", ".join(f"{number:,} {what}" for what, number in counted.items() if number)
    tensors = f"{report.figures['verify.tensors'].value:,} tensors"
    if listed:
        return False, f"The checkpoint does NOT hold {report.model}: of {tensors}: {listed}."
    by = ", by their names alone" if "verify.elements" in report.refused else ""
    return True, f"The checkpoint holds {report.model}: {tensors}{by}."


def _figures(found: Matching, checkpoint: Checkpoint) -> Figures:
    parts = _parts(found)
    tensors = len(checkpoint.tensors)
    figures: Figures = {"verify.tensors": const(tensors, "tensors")}
    if not checkpoint.names_only:
        elements = {name: _elements(name, of_part) for name, of_part in parts.items()}
        figures["verify.elements"] = total(elements.values(), "elements")
        figures |= {f"verify.elements.{name}": each for name, each in elements.items()}
        figures |= _bytes(checkpoint.tensors)
    whats: list[str] = [difference.what for difference in found.differences]
    figures |= {f"verify.{n}": const(whats.count(w), "tensors") for n, w in _COUNTED.items()}
    for name in ("buffers", "tied_stored", "scales", "uncovered"):
        figures[f"verify.{name}"] = const(len(parts[name]), "tensors")
    return figures


def _parts(found: Matching) -> dict[str, list[StoredTensor]]:
    """The tensors of a checkpoint by what they are; those of another shape are no row's."""
    return {
        "rows": _tensors(found.holdings),
        "mtp": _tensors(found.modules),
        "tied_stored": found.tied,
        "buffers": found.buffers,
        "scales": found.scales,
        "uncovered": found.uncovered,
        "extra": found.others,
    }


def _tensors(holdings: Iterable[Holding]) -> list[StoredTensor]:
    return [holding.tensor for holding in holdings]


def _elements(name: str, tensors: Iterable[StoredTensor]) -> Quantity:
    elements = sum(tensor.elements for tensor in tensors)
    return Letter(elements, name, unit="elements", about=_PARTS[name])


def _bytes(tensors: Iterable[StoredTensor]) -> Figures:
    """Bytes of all tensors, and of each type."""
    by_type: dict[str, int] = {}
    for tensor in tensors:
        by_type[tensor.dtype.lower()] = by_type.get(tensor.dtype.lower(), 0) + tensor.bytes
    each = {
        f"verify.bytes.{dtype}": Letter(size, dtype, unit="bytes", about=f"bytes in {dtype}")
        for dtype, size in sorted(by_type.items())
    }
    return {"verify.bytes": total(each.values(), "bytes"), **each}


def _equation(model: Model, figures: Figures) -> list[str]:
    """All elements as a sum, of which the rows are the model's parameters where all are there."""
    if "verify.elements" not in figures:
        return []
    parts = {name: figures[f"verify.elements.{name}"].value for name in _PARTS}
    whole, parameters = _parameters(model)
    rows = parts.pop("rows")
    buffered = rows - parameters
    named = whole if rows == parameters else "rows"
    terms = [f"{rows:,} ({named})"]
    if rows != parameters and buffered == _buffered(model):
        terms = [f"{parameters:,} ({whole})", f"{buffered:,} (params.buffers)"]
    terms += [f"{n:,} ({name.replace('_', ' ')})" for name, n in parts.items() if n]
    return [f"{figures['verify.elements'].value:,} elements = {' + '.join(terms)}"]


def _parameters(model: Model) -> tuple[str, Fraction | int]:
    """The figure that counts all that is described, and its value."""
    figures = params.report(model, Question()).figures
    whole = "params.whole" if model.towers and "params.whole" in figures else "params.total"
    return whole, figures[whole].value


def _buffered(model: Model) -> Fraction | int:
    """Elements of the buffers that the description has."""
    return params.report(model, Question()).figures["params.buffers"].value


def _named(found: Matching) -> list[str]:
    """What is no difference, by name."""
    listed = {
        "buffers": found.buffers,
        "stored though tied": found.tied,
        "beside quantised weights": found.scales,
        "not in the description": found.uncovered,
    }
    return [f"{what}: {_some(tensors)}" for what, tensors in listed.items() if tensors]


def _some(tensors: list[StoredTensor]) -> str:
    names = ", ".join(tensor.name for tensor in tensors[:_SHOWN])
    rest = len(tensors) - _SHOWN
    return names + (f" and {rest:,} more" if rest > 0 else "")


def _stated_size(model: Model, found: Matching, checkpoint: Checkpoint) -> list[str]:
    """The bytes that an index states, as bytes of one element of what its names let expect."""
    size = checkpoint.total_size
    if not checkpoint.names_only or size is None or found.differences or found.uncovered:
        return []
    tied = sum("bias" not in tensor.name for tensor in found.tied)
    whole, parameters = _parameters(model)
    elements = int(parameters + _buffered(model))
    if tied:
        elements += tied * _table(model)
    named = whole + f" + {tied} stored though tied" * bool(tied)
    for each in (2, 4, 1):
        rest = size - each * elements
        if rest == 0 or (found.buffers and 0 < rest < elements // 100):
            beside = f" + {rest:,} of buffers" if rest else ""
            return [f"total_size {size:,} = {each} bytes x {elements:,} ({named}){beside}"]
    return [f"total_size {size:,} is not 1, 2 or 4 bytes for each of {elements:,} ({named})"]


def _table(model: Model) -> int:
    """Elements of the token table."""
    return int(params.totals(model)["params.embedding.tokens"].value)


ACCOUNT = Account(reads=("checkpoint",), make=report, layout="differences", one=True)
