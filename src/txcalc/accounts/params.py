"""How many parameters a model holds, row by row."""

from __future__ import annotations

from collections.abc import Mapping

from txcalc.accounts.account import Account
from txcalc.accounts.fold import (
    SIDES,
    Leaves,
    fold,
    layer_notes,
    leaves,
    of_towers,
    of_which,
    once,
    over_all,
    shares,
    shown_blocks,
    stored,
    sums,
)
from txcalc.exact.quantity import Quantity, product, total
from txcalc.model.model import Layers, Model, Row
from txcalc.model.parts.ffn import Mixture
from txcalc.model.rows import ZERO_PARAMETERS, Role, Weight
from txcalc.model.structure import SUB_LAYERS
from txcalc.report import address as grammar
from txcalc.report.report import Figures, Held, Report
from txcalc.workload.question import Question

UNIT = "parameters"
ACTIVE = "params.active"
CONVENTIONS = [
    "a tied head is one tensor with two uses: counted once, with the embedding",
    "active = total minus the experts that a token leaves unused; vocabulary tables whole",
    "buffers (persistent tensors, no parameters) and mtp modules are outside the total",
]
_KINDS = {"matmul": "matmul", "bias": "biases"}
_BLOCK = ("", *(f".{role}{kind}" for role in SUB_LAYERS for kind in ("", ".matmul", ".biases")),
          ".norms", ".residual", ".tensors", ".matmul", ".biases")  # fmt: skip
_BESIDE = ("embedding", "final_norm", "head", "tensors")
_TOPS = ("blocks", "final_norm", "head", "tensors", "total", "active", "buffers", "mtp")
_IF_ANY = ("params.tensors", "params.mtp")
_BESIDE_TEXT = ("params.whole", "params.tower", "params.projector")
WHOLE = "whole = the text model, which is the total, with its towers and projectors"


def report(model: Model, question: Question) -> Report:
    """Parameters of embeddings, blocks, final norm and head; leaves are rows, the rest sums."""
    active = _active(model)
    figures, refused = _figures(model, active), {}
    if why := _unknown(model):
        refused = dict.fromkeys(_BESIDE_TEXT, why)
        figures = {name: figure for name, figure in figures.items() if name not in refused}
    for kind in model.layers:
        if isinstance(kind.block.ffn, Mixture) and kind.block.ffn.top_k is None:
            del figures[ACTIVE]
            why = f"its block {kind.name!r} does not say how many experts a token uses"
            refused |= {ACTIVE: why}
            break
    shown = [
        *(name for name in figures if name.startswith("params.embedding")),
        *shown_blocks("params", _BLOCK, figures, model),
        *(a for name in _TOPS if (a := f"params.{name}") in figures and _is_shown(a, figures)),
    ]
    beside = _shown_towers(model, figures)
    return Report(
        title="parameters",
        figures=figures,
        tensors=tensors(model),
        shown=[*(shown if model.stacks else []), *beside],
        beneath={f"params.block.{k.name}.active": active[f"block.{k.name}"] for k in model.layers},
        shares=shares(figures, "params", shown, model, stored),
        labels=of_which(shown),
        notes=layer_notes("params", model),
        refused=refused,
        assumptions=_positions(model),
        conventions=[*CONVENTIONS, *([WHOLE] if beside else [])],
    )


def _unknown(model: Model) -> str:
    """Why the whole model is not known, where it is not."""
    if model.left_out is not None:
        return model.left_out
    return "only its text model is described" if model.scope == "text" and not model.towers else ""


def _shown_towers(model: Model, figures: Figures) -> list[str]:
    """Each tower and projector, and the whole."""
    sides = [f"params.{side}.{name}" for side in SIDES for name in model.towers]
    if model.sound_rows:
        sides = ["params.tower.audio", "params.text"]
    if not sides:
        return []
    tops = [*sides, *(_BESIDE_TEXT[1:] if len(model.towers) > 1 else ()), _BESIDE_TEXT[0]]
    return [name for name in tops if name in figures and figures[name].value]


def _positions(model: Model) -> list[str]:
    """The kind of positions of each stack; only some kinds have parameters of their own."""
    kinds = {
        stack: "unstated" if how is None else str(how.__struct_config__.tag)
        for stack, how in ((name, stack.positions) for name, stack in model.stacks.items())
    }
    if len(set(kinds.values())) == 1:
        return [f"positions: {next(iter(kinds.values()))}"]
    listed = ", ".join(f"{kind} ({stack})" for stack, kind in kinds.items())
    return [f"positions: {listed}"] if kinds else []


def _is_shown(address: str, figures: Figures) -> bool:
    return address not in _IF_ANY or bool(figures[address].value)


def tensors(model: Model) -> dict[str, Held]:
    """Every tensor by its address, one layer of each kind."""
    return {
        f"params.{row.address}": Held(row.declared, row.layers.sets if row.layers else row.times)
        for row in model.rows
        if isinstance(row.declared, Weight) and row.component != "mtp"
    }


def by_role(model: Model) -> dict[Role, Quantity]:
    """Parameters of all layers, and beside them, by what they serve: their sum is the total."""
    roles: dict[Role, list[Quantity]] = {}
    for row in model.text_rows or model.rows:
        if isinstance(row.declared, Weight) and row.component != "mtp":
            times = row.layers.sets if row.layers else row.times
            roles.setdefault(row.role, []).append(product(times, row.declared.stored))
    return {role: total(parts, UNIT) for role, parts in roles.items()}


@once
def totals(model: Model) -> Mapping[str, Quantity]:
    """The tree of rows up to ``params.total`` and ``params.whole``."""
    figures = fold("params", model, _stored(model), stored, _BESIDE, UNIT)
    return figures | _beside(model, figures["params.total"])


@once
def _stored(model: Model) -> Leaves:
    """Parameters of each row of one layer, by component."""
    return leaves(model.rows, _held)


def _figures(model: Model, active: Mapping[str, Quantity]) -> Figures:
    """Every figure of the account, given what a token uses of each component."""
    figures = {**totals(model)}
    figures.setdefault("params.embedding.positions", ZERO_PARAMETERS)
    for kind in model.layers:
        figures |= _by_kind(kind, figures)
    figures[ACTIVE] = over_all(model, active, stored, UNIT)
    buffered = sums(((row, _buffered(row)) for row in model.text_rows), UNIT)
    figures["params.buffers"] = over_all(model, buffered, stored, UNIT)
    figures["params.mtp"] = _mtp(model, figures)
    return figures


def _beside(model: Model, total_: Quantity) -> Figures:
    """The towers and projectors beside the text model, and all together.

    An encoder of sound is a tower, but stands in the total as well: its decoder is half of a pair.
    """
    figures = of_towers("params", model, _stored(model), stored, UNIT)
    figures["params.whole"] = total((total_, *(figures[f"params.{side}"] for side in SIDES)), UNIT)
    figures["params.text"] = total_
    if model.sound_rows:
        own = sums(((row, _held(row)) for row in model.sound_rows), UNIT)
        figures["params.tower"] = figures["params.tower.audio"] = over_all(model, own, stored, UNIT)
        sound = {row.address for row in model.sound_rows}
        text = (row for row in model.text_rows if row.address not in sound)
        rest = sums(((row, _counted(row)) for row in text), UNIT)
        figures["params.text"] = over_all(model, rest, stored, UNIT)
    if not model.stacks:
        figures["params.total"] = figures[ACTIVE] = figures["params.whole"]
    return figures


def _counted(row: Row) -> Quantity | None:
    return None if row.component == "mtp" else _held(row)


def _held(row: Row) -> Quantity | None:
    return row.declared.stored if isinstance(row.declared, Weight) else None


def _buffered(row: Row) -> Quantity | None:
    if not isinstance(row.declared, Weight) or row.component == "mtp":
        return None
    return row.declared.buffered


def _used(row: Row) -> Quantity | None:
    """Parameters that one token uses; of what stands outside of blocks, all."""
    if not isinstance(row.declared, Weight) or row.component == "mtp":
        return None
    return row.declared.active if row.layers else row.declared.stored


def _active(model: Model) -> dict[str, Quantity]:
    """Parameters that one token uses of each component."""
    return sums(((row, _used(row)) for row in model.text_rows), UNIT)


def _mtp(model: Model, figures: Figures) -> Quantity:
    """Parameters of the multi-token-prediction modules: a block each, and tensors beside it."""
    if model.mtp is None:
        return ZERO_PARAMETERS
    rows = _stored(model)["mtp"]
    own = (cost for name, cost in rows.items() if not grammar.is_below(name, "block"))
    block = figures[grammar.block("params", model.mtp.block)]
    return product(model.mtp.n_modules, total((block, *own), UNIT))


def _by_kind(kind: Layers, figures: Figures) -> Figures:
    """A block's matmul weights and biases apart, and zero for the components it lacks."""
    address = grammar.block("params", kind.name)
    absent = {f"{address}.{component}": ZERO_PARAMETERS for component in (*SUB_LAYERS, "norms")}
    chosen: dict[str, list[Quantity]] = {
        f"{address}{component}.{use}": []
        for component in (*(f".{role}" for role in SUB_LAYERS), "")
        for use in _KINDS.values()
    }
    for name, row in kind.weights.items():
        if row.use in _KINDS:
            use, quantity = _KINDS[row.use], figures[f"{address}.{name}"]
            component = f"{address}.{grammar.first(name)}.{use}"
            if component in chosen:
                chosen[component].append(quantity)
            chosen[f"{address}.{use}"].append(quantity)
    by_kind = {name: total(quantities, UNIT) for name, quantities in chosen.items()}
    return absent | by_kind | {name: figures[name] for name in absent if name in figures}


ACCOUNT = Account(
    reads=(),
    make=report,
    views={"tensors": "every weight with its dims, copies and count"},
)
