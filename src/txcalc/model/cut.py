"""A GPU's part of a model: the same parts, with the letters that a layout divides made smaller.

Weights, operations, state and formulas follow from the smaller letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import msgspec

from txcalc.errors import OptionError, RefusedError
from txcalc.exact.quantity import Letter, Quantity, ceil_div, const, product, walk
from txcalc.model.model import Model, Row
from txcalc.model.parts.base import OF_GPU, of_gpu
from txcalc.model.rows import Weight
from txcalc.model.stages import Stage
from txcalc.model.structure import SUB_LAYERS, Block, Stack
from txcalc.workload.layout import Layout

_STAGES = ".stages."
"""In the path of the number of layers of a stage."""
_GROUPS = {"dp": "batch", "dcp": "tokens"}
"""By the letter of a layout what it divides that is no letter of a part."""


def gpu(model: Model, layout: Layout, stage: int = 0) -> Model:
    """What a GPU of a stage runs, as a model: its share of every part, the layers of its stage.

    Tables and head are a model's; which stage holds them is said by :func:`held`.

    Raises:
        RefusedError: a part that has no rule, or a letter that the layout cannot divide.
        OptionError: stages that are not those of the model, or whole experts of none.
    """
    layout.check()
    if layout.ep and not any(row.role == "experts" for row in model.text_rows):
        raise OptionError(f"{model.name} has no routed experts: --ep means nothing")
    blocks = {name: _block(model, name, block, layout) for name, block in model.blocks.items()}
    stacks = {name: _stack(stack, layout) for name, stack in model.stacks.items()}
    if layout.pp.value > 1:
        own = Stage(model, layout, stage)
        stacks = {name: _stage(stack, own.blocks[name], stage) for name, stack in stacks.items()}
    head = model.head
    if head is not None and head.n_outputs is not None:
        head = msgspec.structs.replace(head, n_outputs=_padded(head.n_outputs, layout))
    vocab = None if model.vocab is None else _padded(model.vocab, layout)
    return msgspec.structs.replace(model, blocks=blocks, stacks=stacks, head=head, vocab=vocab)


def held(model: Model, layout: Layout, stage: int = 0) -> Iterator[Row]:
    """The rows that a GPU of a stage holds: of :func:`gpu`, what :class:`Stage` says of them."""
    own = Stage(model, layout, stage) if layout.pp.value > 1 else None
    for row in gpu(model, layout, stage).text_rows:
        if own is None or own.holds(row):
            yield _whole_experts(row, layout)


def stands_before(model: Model, layout: Layout, stage: int, row: Row) -> bool:
    """Whether an earlier stage holds the same weight: a table, or the one set of shared layers."""
    if row.layers is not None and not row.layers.block.shared:
        return False
    return any(Stage(model, layout, earlier).holds(row) for earlier in range(stage))


def group_sizes(model: Model, most: int) -> list[int]:
    """Sizes of a tensor-parallel group, up to ``most``, that divide every letter that must be even.

    Parts may refuse some of them.
    """
    even = (
        int(letter.value)
        for block in model.blocks.values()
        for part in (getattr(block, role) for role in block.roles)
        for name, division in (part.divided or {}).items()
        if division == "even" and (letter := getattr(part, name)) is not None
    )
    common = gcd(*even)
    return [size for size in range(1, most + 1) if common % size == 0]


def divided_by(quantity: Quantity) -> list[str]:
    """What the GPUs of a layout divide in a quantity of one of them: letters, tokens, the batch."""
    letters = [letter for letter in walk(quantity) if isinstance(letter, Letter)]
    parts = [letter for letter in letters if letter.name.endswith(OF_GPU)]
    names = [letter.name.removesuffix(OF_GPU) for letter in parts]
    names += ["n_layers" for letter in letters if _STAGES in letter.path]
    beside = (letter for letter in walk(quantity, parts) if isinstance(letter, Letter))
    return list(dict.fromkeys([*names, *(_GROUPS[b.name] for b in beside if b.name in _GROUPS)]))


def _whole_experts(row: Row, layout: Layout) -> Row:
    """A row of routed experts, of which a GPU holds some where they are shared out whole."""
    experts = row.declared
    if not layout.ep or row.role != "experts" or not isinstance(experts, Weight):
        return row
    if experts.copies.value % layout.experts.value:
        n = int(experts.copies.value)
        do = ", ".join(str(size) for size in range(1, n + 1) if n % size == 0)
        raise OptionError(
            f"--ep: {n} experts cannot be shared out whole to {layout.experts.value} GPUs: "
            f"tp x dp of {do} would do"
        )
    assert isinstance(experts.copies, Letter)
    copies = of_gpu(experts.copies, experts.copies / layout.experts)
    return msgspec.structs.replace(row, declared=msgspec.structs.replace(experts, copies=copies))


def _block(model: Model, name: str, block: Block, layout: Layout) -> Block:
    """A block whose parts are a GPU's."""
    parts = {}
    for role in SUB_LAYERS:
        part = getattr(block, role)
        if part is None:
            continue
        try:
            parts[role] = part.cut(layout)
        except (ValueError, RefusedError) as error:
            raise RefusedError(f"{model.name}: blocks.{name}.{role}: {error}") from None
    return msgspec.structs.replace(block, **parts)


def _stack(stack: Stack, layout: Layout) -> Stack:
    if stack.vocab is None:
        return stack
    return msgspec.structs.replace(stack, vocab=_padded(stack.vocab, layout))


def _stage(stack: Stack, names: list[str], stage: int) -> Stack:
    """The layers of one stage, in their order; a stack may have none there."""
    path = stack.count.path.rpartition(".")[0]
    count = Letter(len(names), "n_layers", f"{path}{_STAGES}{stage}", about="layers of the stage")
    pattern = (names or [*stack.first, *stack.pattern])[:1]
    return msgspec.structs.replace(stack, count=count, first=names, pattern=pattern, last=[])


def _padded(letter: Letter, layout: Layout) -> Letter:
    """Rows of a table that GPUs divide, padded to equal parts and to what an engine pads to."""
    if layout.tp.value == layout.multiple == 1:
        return letter
    multiple = const(layout.multiple)
    padded = product(multiple, ceil_div(letter, multiple)) if layout.multiple > 1 else letter
    rows: Quantity = ceil_div(padded, layout.tp)
    return of_gpu(letter, rows)
