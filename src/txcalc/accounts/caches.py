"""What one GPU of a stage keeps of sequences, in bytes, as an engine allocates it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from txcalc.accounts.kvcache import CacheFormats
from txcalc.accounts.setting import Setting
from txcalc.errors import OptionError
from txcalc.exact.quantity import ONE, Letter, Number, Quantity, ceil_div, product, total
from txcalc.model.model import Row
from txcalc.model.rows import State
from txcalc.workload.passes import Workload
from txcalc.workload.reach import All, Fixed, Kept, Source, Window

Kind = tuple[Quantity, list[State]]
"""How many layers there are alike, and what each of them keeps."""


class Spec(NamedTuple):
    """Layers whose caches are alike: bytes of one token in one of them, and the window if any."""

    layers: Quantity
    page: Quantity
    window: Window | None


class Caches:
    """The states among the ``rows`` that a GPU holds, of the sequences of its data-parallel group.

    Modules for further tokens keep states where they are asked for.

    Raises:
        OptionError: a cache that is not on all GPUs which are to divide it by tokens, or that the
            engine does not divide so.
    """

    def __init__(self, setting: Setting, workload: Workload, rows: Sequence[Row]) -> None:
        question = setting.question
        self._setting, self._workload, self._rows = setting, workload, rows
        self._layout, self._engine = question.layout, question.serving
        self._formats = CacheFormats(setting.model, question)
        self._kinds = _kinds(rows, mtp=question.mtp)
        if question.dcp > 1:
            self._check_tokens(setting)

    @property
    def sequences(self) -> Quantity:
        """Sequences of the group."""
        if self._layout.dp.value == 1:
            return self._workload.batch
        return ceil_div(self._workload.batch, self._layout.dp)

    @cached_property
    def by_kind(self) -> dict[str, Quantity]:
        """Bytes of the caches of all sequences by kind of layer, a modules' layer among them."""
        caches = {name: product(self.sequences, each) for name, each in self._growing.items()}
        spare = product(self._engine.spare, self.token)
        return caches | ({"spare": spare} if spare.value else {})

    @cached_property
    def fixed(self) -> Quantity:
        """Bytes of states that no token adds to."""
        return product(self.sequences, self._fixed)

    @cached_property
    def sequence(self) -> Quantity:
        """Bytes that one sequence keeps."""
        return total((*self._growing.values(), self._fixed), "bytes")

    @cached_property
    def token(self) -> Quantity:
        """Bytes that one token writes in all layers of the stage, and of modules."""
        each = (product(layers, self._written(states)) for layers, states in self._kinds.values())
        return total(each, "bytes")

    @cached_property
    def specs(self) -> list[Spec]:
        """What is kept of tokens one by one: in how many layers alike, and the page of one token.

        Layers are alike that keep as many bytes a token, of all tokens or of a window of one size.
        """
        specs: dict[tuple[Number, Number], list[Spec]] = {}
        for layers, states in self._kinds.values():
            for window, of_reach in _by_window(states).items():
                page = self._written(of_reach)
                if layers.value and page.value:
                    reach = of_reach[0].reach
                    spec = Spec(layers, page, reach if isinstance(reach, Window) else None)
                    specs.setdefault((page.value, window), []).append(spec)
        return [
            alike[0]._replace(layers=total((spec.layers for spec in alike), ""))
            for alike in specs.values()
        ]

    @cached_property
    def beside(self) -> Quantity:
        """Bytes of one sequence that no token has a page of."""
        each = (
            product(layers, self._formats.bytes_of(self._of_tokens(_not_paged(states))))
            for layers, states in self._kinds.values()
        )
        return total((*each, self._fixed), "bytes")

    @property
    def dcp(self) -> Quantity:
        """GPUs that divide a sequence by tokens."""
        return self._layout.dcp

    @property
    def ctx(self) -> Quantity:
        """Tokens of a sequence."""
        return self._workload.ctx

    def on_gpu(self, tokens: Quantity) -> Quantity:
        """Those of so many tokens that one of the GPUs which divide them holds."""
        return tokens if self.dcp.value == 1 else ceil_div(tokens, self.dcp)

    def at(self, ctx: Letter) -> Caches:
        """The same of sequences of another length."""
        return Caches(self._setting, self._setting.workload("decode", ctx), self._rows)

    @property
    def has_windows(self) -> bool:
        """Whether a state keeps the tokens of a window."""
        return any(spec.window is not None for spec in self.specs)

    @cached_property
    def _growing(self) -> dict[str, Quantity]:
        """Bytes that one sequence keeps of its tokens in all layers of each kind."""
        return {
            name: product(layers, self._formats.bytes_of(self._of_tokens(states)))
            for name, (layers, states) in self._kinds.items()
        }

    @cached_property
    def _fixed(self) -> Quantity:
        """Bytes that one sequence keeps whatever its length."""
        each = (
            product(layers, self._formats.bytes_of((s, ONE) for s in states if _is_fixed(s)))
            for layers, states in self._kinds.values()
        )
        return total(each, "bytes")

    def _written(self, states: Iterable[State]) -> Quantity:
        """Bytes that one token writes in one layer, on average where GPUs divide the tokens."""
        growing = ((s, s.reach.written) for s in states if not isinstance(s.reach, Source))
        whole = self._formats.bytes_of(growing)
        return whole if self._layout.dcp.value == 1 else whole / self._layout.dcp

    def _of_tokens(self, states: Iterable[State]) -> Iterator[tuple[State, Quantity]]:
        """How many tokens' worth of each growing state one sequence keeps on the GPU."""
        for state in states:
            match state.reach:
                case Fixed():
                    pass
                case Source():
                    yield state, self._workload.source
                case reach:
                    yield state, self._kept(reach)

    def _kept(self, reach: Kept) -> Quantity:
        """How many tokens' worth of a growing state is kept, on one of those that divide it."""
        if type(reach) is All:  # an engine's blocks are filled by the GPU's own tokens
            return self._engine.kept(reach, self.on_gpu(self.ctx))
        return self.on_gpu(self._engine.kept(reach, self.ctx))

    def _check_tokens(self, setting: Setting) -> None:
        """Refuses to divide a cache by tokens among GPUs that do not hold the same one."""
        tp, dcp = self._layout.tp.value, self._layout.dcp.value
        whole = _kinds(setting.model.text_rows, mtp=setting.question.mtp)
        for kind, (_, states) in self._kinds.items():
            for state, of_model in zip(states, whole[kind][1], strict=True):
                copies = Fraction(tp * state.width.value) / of_model.width.value
                if not isinstance(state.reach, Fixed | Source) and copies % dcp:
                    raise OptionError(
                        f"--dcp {dcp}: {copies} of --tp {tp} GPUs hold the same {state.name}: "
                        "a divisor of that would do"
                    )
                if isinstance(state.reach, Window) and not self._engine.divides_windows:
                    raise OptionError(
                        f"--dcp {dcp}: {self._engine.name} does not divide the windows of "
                        f"{setting.model.name} by tokens: --dcp 1 would do"
                    )


def _by_window(states: Iterable[State]) -> dict[Number, list[State]]:
    """Paged states by the size of their window, 0 for those that keep all tokens."""
    by_window: dict[Number, list[State]] = {}
    for state in states:
        if isinstance(state.reach, Window):
            by_window.setdefault(state.reach.size.value, []).append(state)
        elif type(state.reach) is All:
            by_window.setdefault(0, []).append(state)
    return by_window


def _not_paged(states: Iterable[State]) -> list[State]:
    """States that are no tokens, or are of an encoder's."""
    return [s for s in states if not isinstance(s.reach, Window) and type(s.reach) is not All]


def _is_fixed(state: State) -> bool:
    return isinstance(state.reach, Fixed)


def _kinds(rows: Iterable[Row], *, mtp: bool) -> dict[str, Kind]:
    """By kind of layer that generates, and for modules, how many there are and what one keeps."""
    kinds: dict[str, Kind] = {}
    for row in rows:
        is_module = row.component == "mtp"
        if row.given == "encoder" or not (mtp if is_module else row.layers):
            continue
        layers = row.times if row.layers is None else row.layers.states
        _, states = kinds.setdefault(row.component.removeprefix("block."), (layers, []))
        if isinstance(row.declared, State):
            states.append(row.declared)
    return kinds
