"""How many parameters a model holds, row by row."""

from __future__ import annotations

from collections.abc import Mapping

from txcalc.accounts.fold import layer_notes, select, shares, tree
from txcalc.accounts.question import Question
from txcalc.inventory import ZERO_PARAMETERS, Weight
from txcalc.model import ROLES, Model
from txcalc.quantity import Quantity, product, total
from txcalc.report import Figures, Held, Report

UNIT = "parameters"
CONVENTIONS = [
    "a tied head is one tensor with two uses: counted once, with the embedding",
    "active = total minus the experts that a token leaves unused; vocabulary tables whole",
    "buffers (persistent tensors that are no parameters) are outside the total",
]
_KINDS = {"matmul": "matmul", "biases": "bias"}
_BLOCK = ("", *(f".{role}{kind}" for role in ROLES for kind in ("", ".matmul", ".biases")),
          ".norms", ".tensors", ".matmul", ".biases")  # fmt: skip
_TOPS = ("blocks", "final_norm", "head", "total", "active", "buffers")


def account(model: Model, question: Question) -> Report:
    """Parameters of embeddings, blocks, final norm and head; leaves are rows, the rest sums."""
    sums = figures(model)
    blocks = [
        address
        for kind in model.layers
        for part in _BLOCK
        if (address := f"params.block.{kind.name}{part}") in sums
        and (sums[address].value or not part)
    ]
    shown = [
        *(name for name in sums if name.startswith("params.embedding") and "_bias" not in name),
        *blocks,
        *(f"params.{name}" for name in _TOPS),
    ]
    return Report(
        title="parameters",
        model=model.name,
        source=model.source,
        figures=sums,
        tensors=tensors(model),
        shown=shown,
        shares=shares(sums, "params", shown),
        notes=layer_notes("params", model),
        block_kinds=list(model.blocks),
        conventions=CONVENTIONS,
    )


def tensors(model: Model) -> dict[str, Held]:
    """Every tensor by its address, one layer of each kind."""
    held = {f"params.embedding.{name}": Held(row) for name, row in model.embedding.items()}
    for kind in model.layers:
        for name, row in kind.rows.items():
            held[f"params.block.{kind.name}.{name}"] = Held(row, kind.count)
    held |= {f"params.final_norm.{name}": Held(row) for name, row in model.final_norm.items()}
    return held | {f"params.head.{name}": Held(row) for name, row in model.output.items()}


def figures(model: Model) -> Figures:
    """Every figure of the account."""
    sums = _tree("params.embedding", model.embedding)
    sums.setdefault("params.embedding.positions", ZERO_PARAMETERS)
    for kind in model.layers:
        sums |= block_parameters(f"params.block.{kind.name}", kind.rows)
    sums["params.blocks"] = total(
        (product(kind.count, sums[f"params.block.{kind.name}"]) for kind in model.layers), UNIT
    )
    sums |= _tree("params.final_norm", model.final_norm)
    sums |= _tree("params.head", model.output)
    whole = [sums[f"params.{name}"] for name in ("embedding", "blocks", "final_norm", "head")]
    sums["params.total"] = total(whole, UNIT)
    sums["params.active"] = _active(model, sums)
    sums["params.buffers"] = ZERO_PARAMETERS
    return sums


def block_parameters(address: str, rows: Mapping[str, Weight]) -> Figures:
    """A block's rows, their sums by component, and its matmul weights and biases apart."""
    stored = {name: row.stored for name, row in rows.items()}
    sums = tree(address, stored, UNIT)
    for component in (*ROLES, ""):
        where = f"{address}.{component}".rstrip(".")
        sums.setdefault(where, ZERO_PARAMETERS)
        inside = f"{component}." if component else ""
        for kind, use in _KINDS.items():
            chosen = (n for n, row in rows.items() if n.startswith(inside) and row.use == use)
            sums[f"{where}.{kind}"] = select(stored, chosen, UNIT)
    sums.setdefault(f"{address}.norms", ZERO_PARAMETERS)
    return sums


def _tree(address: str, rows: Mapping[str, Weight]) -> Figures:
    return tree(address, {name: row.stored for name, row in rows.items()}, UNIT)


def _active(model: Model, sums: Figures) -> Quantity:
    """Parameters that one token uses."""
    used = (
        product(kind.count, total((row.active for row in kind.rows.values()), UNIT))
        for kind in model.layers
    )
    rest = (sums[f"params.{name}"] for name in ("embedding", "final_norm", "head"))
    return total((*used, *rest), UNIT)
