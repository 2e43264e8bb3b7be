"""How many parameters a model holds, row by row."""

from __future__ import annotations

from collections.abc import Mapping

from txcalc.accounts.fold import layer_notes, shares, tree
from txcalc.accounts.question import Question
from txcalc.exact.quantity import Quantity, product, total
from txcalc.model.model import Model
from txcalc.model.parts.ffn import Mixture
from txcalc.model.rows import ZERO_PARAMETERS, Weight
from txcalc.model.structure import ROLES
from txcalc.report.report import Figures, Held, Report

UNIT = "parameters"
ACTIVE = "params.active"
CONVENTIONS = [
    "a tied head is one tensor with two uses: counted once, with the embedding",
    "active = total minus the experts that a token leaves unused; vocabulary tables whole",
    "buffers (persistent tensors, no parameters) and mtp modules are outside the total",
]
_KINDS = {"matmul": "matmul", "bias": "biases"}
_BLOCK = ("", *(f".{role}{kind}" for role in ROLES for kind in ("", ".matmul", ".biases")),
          ".norms", ".hyper", ".altup", ".tensors", ".matmul", ".biases")  # fmt: skip
_BESIDE = ("embedding", "final_norm", "head", "tensors")
_TOPS = ("blocks", "final_norm", "head", "tensors", "total", "active", "buffers", "mtp")
_IF_ANY = ("params.tensors", "params.mtp")


def account(model: Model, question: Question) -> Report:
    """Parameters of embeddings, blocks, final norm and head; leaves are rows, the rest sums."""
    used = _used_in_layers(model)
    found, refused = figures(model, used), {}
    for kind in model.layers:
        if isinstance(kind.block.ffn, Mixture) and kind.block.ffn.top_k is None:
            del found[ACTIVE]
            why = f"its block {kind.name!r} does not say how many experts a token uses"
            refused = {ACTIVE: why}
            break
    blocks = [
        address
        for kind in model.layers
        for part in _BLOCK
        if (address := f"params.block.{kind.name}{part}") in found
        and (found[address].value or not part)
    ]
    shown = [
        *(name for name in found if name.startswith("params.embedding")),
        *blocks,
        *(a for name in _TOPS if (a := f"params.{name}") in found and _is_shown(a, found)),
    ]
    return Report(
        title="parameters",
        model=model.name,
        source=model.source,
        figures=found,
        tensors=tensors(model),
        shown=shown,
        beneath=used,
        shares=shares(found, "params", shown),
        notes=layer_notes("params", model),
        refused=refused,
        block_kinds=list(model.blocks),
        conventions=CONVENTIONS,
    )


def _is_shown(address: str, found: Figures) -> bool:
    return address not in _IF_ANY or bool(found[address].value)


def tensors(model: Model) -> dict[str, Held]:
    """Every tensor by its address, one layer of each kind."""
    held = {f"params.embedding.{name}": Held(row) for name, row in model.embedding.items()}
    for kind in model.layers:
        for name, row in kind.rows.items():
            held[f"params.block.{kind.name}.{name}"] = Held(row, kind.sets)
    held |= {f"params.final_norm.{name}": Held(row) for name, row in model.final_norm.items()}
    held |= {f"params.head.{name}": Held(row) for name, row in model.output.items()}
    return held | {f"params.tensors.{name}": Held(row) for name, row in model.tensors.items()}


def figures(model: Model, used: Figures) -> Figures:
    """Every figure of the account, given what a token uses of each kind of layer."""
    found = sums(model)
    found.setdefault("params.embedding.positions", ZERO_PARAMETERS)
    for kind in model.layers:
        found |= _by_kind(f"params.block.{kind.name}", kind.rows, found)
    found[ACTIVE] = _active(model, found, used)
    buffers = (product(h.layers, h.weight.buffered) for h in tensors(model).values())
    found["params.buffers"] = total(buffers, UNIT)
    found["params.mtp"] = _mtp(model, found)
    return found


def sums(model: Model) -> Figures:
    """The tree of rows up to ``params.total``."""
    found = _tree("params.embedding", model.embedding)
    for kind in model.layers:
        found |= _tree(f"params.block.{kind.name}", kind.rows)
    found["params.blocks"] = total(
        (product(kind.sets, found[f"params.block.{kind.name}"]) for kind in model.layers), UNIT
    )
    found |= _tree("params.final_norm", model.final_norm)
    found |= _tree("params.head", model.output)
    found |= _tree("params.tensors", model.tensors)
    whole = [found[f"params.{name}"] for name in ("blocks", *_BESIDE)]
    return found | {"params.total": total(whole, UNIT)}


def _by_kind(address: str, rows: Mapping[str, Weight], found: Figures) -> Figures:
    """A block's matmul weights and biases apart, and zero for the components it lacks."""
    absent = {f"{address}.{component}": ZERO_PARAMETERS for component in (*ROLES, "norms")}
    chosen: dict[str, list[Quantity]] = {
        f"{address}{component}.{kind}": []
        for component in (*(f".{role}" for role in ROLES), "")
        for kind in _KINDS.values()
    }
    for name, row in rows.items():
        if row.use in _KINDS:
            kind, quantity = _KINDS[row.use], found[f"{address}.{name}"]
            component = f"{address}.{name.partition('.')[0]}.{kind}"
            if component in chosen:
                chosen[component].append(quantity)
            chosen[f"{address}.{kind}"].append(quantity)
    by_kind = {name: total(quantities, UNIT) for name, quantities in chosen.items()}
    return absent | by_kind | {name: found[name] for name in absent if name in found}


def _tree(address: str, rows: Mapping[str, Weight]) -> Figures:
    return tree(address, {name: row.stored for name, row in rows.items()}, UNIT)


def _used_in_layers(model: Model) -> Figures:
    """Parameters that one token uses of one layer of each kind."""
    return {
        f"params.block.{kind.name}.active": total((r.active for r in kind.rows.values()), UNIT)
        for kind in model.layers
    }


def _active(model: Model, found: Figures, used: Figures) -> Quantity:
    """Parameters that one token uses."""
    layers = (product(kind.sets, used[f"params.block.{kind.name}.active"]) for kind in model.layers)
    return total((*layers, *(found[f"params.{name}"] for name in _BESIDE)), UNIT)


def _mtp(model: Model, found: Figures) -> Quantity:
    """Parameters of the multi-token-prediction modules."""
    if model.mtp is None:
        return ZERO_PARAMETERS
    own = (tensor.weight(name).stored for name, tensor in model.mtp.tensors.items())
    block = found[f"params.block.{model.mtp.block}"]
    return product(model.mtp.n_modules, total((block, *own), UNIT))
