"""What every part of a model has in common."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

import msgspec

from txcalc.errors import RefusedError
from txcalc.exact.condition import Condition
from txcalc.exact.quantity import ONE, Letter, Quantity, ceil_div, const, defined
from txcalc.model.rows import Op, Scan, State, Weight
from txcalc.model.saved import Keeping, Saved
from txcalc.workload.layout import Layout
from txcalc.workload.passes import Stream
from txcalc.workload.reach import FIXED


def dim(meaning: str) -> msgspec.Meta:
    """The metadata of a dimension's field: what its letter means."""
    return msgspec.Meta(description=meaning)


HeadDim = Annotated[Letter | None, dim("width of one head; d_model / n_heads where left out")]


def recurrent_state(*dims: Quantity) -> State:
    """What a recurrence carries from token to token, in fp32 whatever the cache's format."""
    return State(name="recurrent", dims=dims, reach=FIXED, fmt="fp32")


class Slot(msgspec.Struct, frozen=True):
    """Where in a block a part stands: the width of its stream, and whose tokens its keys are of.

    The encoder's stream may be of another width, ``source``.
    """

    d_model: Quantity
    stream: Stream = "own"
    source: Quantity | None = None

    @property
    def keys_from(self) -> Quantity:
        """The width of the stream that keys and values are made of."""
        return self.d_model if self.source is None else self.source


MOST_LISTED = 12
"""Numbers of GPUs that a refusal lists."""
OF_GPU = "_gpu"
"""How a letter's name ends that is a GPU's part of it."""
Division = Literal["even", "repeat"]
"""How GPUs divide a letter: into equal parts, or so that some repeat where they are too few."""


def share(letter: Letter, gpus: Quantity, division: Division = "even") -> Letter:
    """A GPU's part of a letter that so many GPUs divide.

    Raises:
        ValueError: a letter that cannot be divided so.
    """
    if gpus.value == 1:
        return letter
    n, group = int(letter.value), int(gpus.value)
    if n % group and not (division == "repeat" and group % n == 0):
        do = [str(size) for size in range(1, n + 1) if n % size == 0]
        listed = ", ".join(do if len(do) <= MOST_LISTED else [*do[:MOST_LISTED], "..."])
        more = f" or a multiple of {n}" if division == "repeat" else ""
        raise ValueError(
            f"{letter.name} {n} cannot be divided by {group} GPUs: {listed}{more} would do"
        )
    part = letter / gpus if division == "even" else ceil_div(letter, gpus)
    return of_gpu(letter, part)


def of_gpu(letter: Letter, part: Quantity) -> Letter:
    """A GPU's part of a letter, as a letter of its own."""
    return defined(f"{letter.name}{OF_GPU}", part, letter.path, f"{letter.name} of one GPU")


class Part(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """A kind of sub-layer: it knows its weights, its products without a weight, and its state.

    ``divided`` are the letters that a tensor-parallel group divides; None where no rule is known.
    ``last_product`` is the weight behind whose product nothing is kept for a backward pass, ""
    where its output is kept; None where that is not known.
    """

    divided: ClassVar[Mapping[str, Division] | None] = None
    last_product: ClassVar[str | None] = None

    def bound(self, d_model: Letter) -> Self:
        """The same part with the letters defined that its description may leave out.

        Raises:
            ValueError: fields that contradict each other.
        """
        return self

    def conditions(self, d_model: Letter) -> list[Condition]:
        """What has to hold between the sizes of a bound part."""
        return []

    def cut(self, layout: Layout) -> Self:
        """The part that one GPU of a layout has.

        Raises:
            RefusedError: a kind without a rule.
            ValueError: a letter that the layout cannot divide.
        """
        if layout.tp.value == 1:
            return self
        if self.divided is None:
            kind = self.__struct_config__.tag
            raise RefusedError(f"kind {kind!r} has no rule by which GPUs divide it: take --tp 1")
        shares = {
            name: share(letter, layout.tp, division)
            for name, division in self.divided.items()
            if (letter := getattr(self, name)) is not None
        }
        return msgspec.structs.replace(self, **shares)

    def weights(self, slot: Slot) -> list[Weight]:
        """Every tensor of one layer's part."""
        raise NotImplementedError

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """Products that read no weight."""
        return []

    def saved(self, slot: Slot, how: Keeping) -> list[Saved] | None:
        """What a backward pass needs of the forward pass; None where no measurement confirms it.

        The tensors that a norm before the part keeps are the block's.
        """
        return None

    def state(self, slot: Slot) -> list[State]:
        """What one layer's part keeps of a sequence."""
        return []


def read(name: str, width: Quantity, how: Keeping, products: int) -> list[Saved]:
    """What products keep of the tensor that they read: a copy each where it is cast, else one."""
    copies = const(products) if how.casts else ONE
    return [Saved(name=name, dims=(width,), copies=copies)]


class Residual(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True
):
    """What takes the place of the one residual stream, around the ``branches`` of a block."""

    def weights(self, branches: Sequence[str], d_model: Quantity) -> list[Weight]:
        """Every tensor of one layer."""
        raise NotImplementedError

    def operations(self, branches: Sequence[str], d_model: Quantity) -> list[Op | Scan]:
        """Products that read no weight."""
        raise NotImplementedError
