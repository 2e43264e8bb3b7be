"""What one GPU of a stage holds, in bytes: weights, what is repeated and padded, and caches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property

import msgspec

from txcalc.accounts.kvcache import CacheFormats
from txcalc.accounts.setting import Setting
from txcalc.accounts.storage import Storage
from txcalc.errors import OptionError
from txcalc.exact.quantity import ONE, ZERO, Quantity, ceil_div, const, product, total
from txcalc.model.cut import gpu, held
from txcalc.model.model import Row
from txcalc.model.parts.attention import MultiHead
from txcalc.model.parts.mla import Latent
from txcalc.model.parts.positions import Rotary
from txcalc.model.rows import State, Weight
from txcalc.workload.passes import Workload
from txcalc.workload.reach import All, Fixed, Kept, Source

NOTHING = ZERO.counted_as("bytes")
TABLE = const(2, "bytes/element")
"""Bytes of a cosine or a sine: vLLM stores them in the model's 16-bit format."""


class Gpu:
    """One GPU of a stage.

    Raises:
        RefusedError: a part that a layout cannot divide.
        OptionError: stages that are not those of the model, or a cache that is not on all GPUs
            which are to divide it by tokens.
    """

    def __init__(self, setting: Setting, workload: Workload, stage: int = 0) -> None:
        question = setting.question
        self._setting, self._workload = setting, workload
        self._layout, self._engine = question.layout, question.serving
        self._model, self._stage = setting.model, stage
        self._storage = Storage(setting.model, question, mtp=question.mtp)
        self.runs = gpu(setting.model, self._layout, stage)
        self._check_tokens()
        self.rows = [row for row in held(setting.model, self._layout, stage) if self._is_here(row)]

    @cached_property
    def weights(self) -> dict[str, Quantity]:
        """Bytes of the weights by role, modules for further tokens apart."""
        return self._by_role(row for row in self.rows if row.component != "mtp")

    @cached_property
    def mtp(self) -> Quantity:
        """Bytes of the modules for further tokens, where they are asked for."""
        return total(
            self._by_role(row for row in self.rows if row.component == "mtp").values(), "bytes"
        )

    @cached_property
    def padding(self) -> Quantity:
        """Bytes of rows that no token has."""
        return total(
            (
                self._bytes(row) - self._bytes(self._whole(row)) / self._layout.tp
                for row in self.rows
                if self._is_padded(row)
            ),
            "bytes",
        )

    @cached_property
    def repeated(self) -> Quantity:
        """Bytes beyond an equal share of the stage's weights, which other GPUs hold as well."""
        share = total((self._share(row) for row in self.rows), "bytes")
        here = total((*self.weights.values(), self.mtp), "bytes")
        return here - share - self.padding

    @cached_property
    def tables(self) -> Quantity:
        """Bytes of the cosines and sines of all positions, where the engine stores them."""
        if not self._engine.has_tables or self._model.context is None:
            return NOTHING
        widths = {width.value: width for width in rotary_widths(self._setting)}
        return total(
            (
                product(product(self._model.context, width).counted_as("elements"), TABLE)
                for width in widths.values()
            ),
            "bytes",
        )

    @cached_property
    def cache(self) -> dict[str, Quantity]:
        """Bytes of the caches of all sequences by kind of layer, a modules' layer among them."""
        caches = {name: product(self.sequences, each) for name, each in self._each(False).items()}
        spare = product(self._engine.spare, self.token)
        return caches | ({"spare": spare} if spare.value else {})

    @cached_property
    def fixed(self) -> Quantity:
        """Bytes of states that no token adds to."""
        return product(self.sequences, total(self._each(True).values(), "bytes"))

    @cached_property
    def sequence(self) -> Quantity:
        """Bytes that one sequence keeps."""
        return total((*self._each(False).values(), *self._each(True).values()), "bytes")

    @cached_property
    def token(self) -> Quantity:
        """Bytes that one token writes in all layers of the stage, and of modules."""
        each = (product(layers, self._written(states)) for _, layers, states in self._kinds)
        return total(each, "bytes")

    @cached_property
    def page(self) -> Quantity:
        """Bytes of one token in an engine's block, whose pages are of the largest kind of layer.

        vLLM v1 kv_cache_utils.py: unify_kv_cache_spec_page_size.
        """
        pages = [(layers, self._written(states)) for _, layers, states in self._kinds]
        largest = max((page for _, page in pages), key=lambda page: page.value)
        return product(total((layers for layers, page in pages if page.value), ""), largest)

    @property
    def sequences(self) -> Quantity:
        """Sequences of the GPU's data-parallel group."""
        if self._layout.dp.value == 1:
            return self._workload.batch
        return ceil_div(self._workload.batch, self._layout.dp)

    @property
    def loaded(self) -> Quantity:
        """What an engine reports once it has loaded: weights, tables and modules."""
        return total((*self.weights.values(), self.tables, self.mtp), "bytes")

    @property
    def total(self) -> Quantity:
        """All that is held between steps."""
        return total((self.loaded, *self.cache.values(), self.fixed), "bytes")

    def step(self, tokens: Quantity) -> dict[str, Quantity]:
        """Logits of the sequences, and the widest output of a product over so many tokens."""
        in_layers = (_weight(row) for row in self.rows if row.layers is not None)
        widths = (product(w.used, w.written) for w in in_layers if w.use == "matmul")
        widest = max(widths, key=lambda width: width.value, default=ZERO)
        outputs = (row.declared for row in self.runs.rows if row.address == "head.output")
        output = next(outputs, None) if self._is_last else None
        vocab = output.written if isinstance(output, Weight) else ZERO
        elements = {"logits": product(self.sequences, vocab), "widest": product(tokens, widest)}
        size = self._setting.question.activation_bytes
        return {name: product(n.counted_as("elements"), size) for name, n in elements.items()}

    @property
    def _is_last(self) -> bool:
        return self._stage == int(self._layout.pp.value) - 1

    def _by_role(self, rows: Iterable[Row]) -> dict[str, Quantity]:
        roles: dict[str, list[Quantity]] = {}
        for row in rows:
            roles.setdefault(row.role, []).append(self._bytes(row))
        return {role: total(each, "bytes") for role, each in roles.items()}

    def _bytes(self, row: Row) -> Quantity:
        """Bytes of a row in all layers of the stage."""
        weight = _weight(row)
        times = row.times if row.layers is None else row.layers.sets
        return product(times, self._storage.copies(row, weight.copies))

    def _is_here(self, row: Row) -> bool:
        if not self._storage.is_stored(row):
            return False
        on_host = self._engine.tokens_on_host and row.address == "embedding.tokens"
        head = self._model.head
        return not (on_host and not (head is not None and head.tied))

    def _whole(self, row: Row) -> Row:
        """The same row of the whole model, in as many layers as the stage has."""
        return msgspec.structs.replace(self._wholes[row.address], layers=row.layers)

    @cached_property
    def _wholes(self) -> dict[str, Row]:
        rows = self._model.rows
        return {row.address: row for row in rows if isinstance(row.declared, Weight)}

    def _share(self, row: Row) -> Quantity:
        """An equal share of a row of the model; of a table that stands twice, nothing."""
        if self._stage and row.component == "embedding":
            return NOTHING
        return self._bytes(self._whole(row)) / product(self._layout.tp, self._layout.dp)

    def _is_padded(self, row: Row) -> bool:
        """Whether a row has an output for each entry of the vocabulary."""
        return row.name.startswith(("tokens", "output")) and row.component in ("embedding", "head")

    def _written(self, states: Iterable[State]) -> Quantity:
        """Bytes that one token writes in one layer, on average where GPUs divide the tokens."""
        formats = CacheFormats(self._model, self._setting.question)
        growing = ((s, s.reach.written) for s in states if not isinstance(s.reach, Source))
        whole = formats.bytes_of(growing)
        return whole if self._layout.dcp.value == 1 else whole / self._layout.dcp

    def _kept(self, states: Iterable[State], *, fixed: bool) -> Quantity:
        formats = CacheFormats(self._model, self._setting.question)
        return formats.bytes_of(self._tokens(states, fixed=fixed))

    def _tokens(self, states: Iterable[State], *, fixed: bool) -> Iterator[tuple[State, Quantity]]:
        """How many tokens' worth of each state one sequence keeps on the GPU."""
        for state in states:
            match state.reach:
                case Fixed():
                    if fixed:
                        yield state, ONE
                case Source():
                    if not fixed:
                        yield state, self._workload.source
                case reach:
                    if not fixed:
                        yield state, self._of_tokens(reach)

    def _of_tokens(self, reach: Kept) -> Quantity:
        """How many tokens' worth of a growing state is kept, on one of those that divide it."""
        ctx, dcp = self._workload.ctx, self._layout.dcp
        if dcp.value == 1:
            return self._engine.kept(reach, ctx)
        if type(reach) is All:  # an engine's blocks are filled by the GPU's own tokens
            return self._engine.kept(reach, ceil_div(ctx, dcp))
        return ceil_div(self._engine.kept(reach, ctx), dcp)

    @cached_property
    def _kinds(self) -> list[tuple[str, Quantity, list[State]]]:
        """The kinds of layers that keep something, and the modules' on the last stage."""
        kinds = [(k.name, k.states, list(k.state.values())) for k in self.runs.decoder_layers]
        mtp = self._model.mtp
        if mtp is not None and self._setting.question.mtp and self._is_last:
            states = self.runs.blocks[mtp.block].state(self.runs.d_model)
            kinds.append(("mtp", mtp.n_modules, list(states.values())))
        return kinds

    def _each(self, fixed: bool) -> dict[str, Quantity]:
        """Bytes that one sequence keeps in all layers of each kind."""
        return {
            name: product(layers, self._kept(states, fixed=fixed))
            for name, layers, states in self._kinds
        }

    def _check_tokens(self) -> None:
        """Refuses to divide a cache by tokens among GPUs that do not hold the same one."""
        tp, dcp = self._layout.tp.value, self._layout.dcp.value
        for kind in self.runs.decoder_layers if dcp > 1 else ():
            whole = self._model.kinds[f"block.{kind.name}"].state
            for name, state in kind.state.items():
                copies = Fraction(tp * state.width.value) / whole[name].width.value
                if not isinstance(state.reach, Fixed | Source) and copies % dcp:
                    raise OptionError(
                        f"--dcp {dcp}: {copies} of --tp {tp} GPUs hold the same {state.name}: "
                        "a divisor of that would do"
                    )


def rotary_widths(setting: Setting) -> Iterator[Quantity]:
    """Channels that rotary positions turn, of each kind of attention."""
    for kind in setting.model.layers:
        positions = setting.model.stacks[kind.stack].positions
        part = kind.block.attention
        if not isinstance(positions, Rotary) or part is None:
            continue
        if positions.width is not None:
            yield positions.width
        elif isinstance(part, Latent):
            if part.rope_dim is not None:
                yield part.rope_dim
        elif isinstance(part, MultiHead):
            yield part.d_qk


def _weight(row: Row) -> Weight:
    assert isinstance(row.declared, Weight)
    return row.declared
