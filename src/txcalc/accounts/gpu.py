"""What one GPU of a stage holds, in bytes: weights, what is repeated and padded, and caches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from txcalc.accounts.caches import Caches
from txcalc.accounts.setting import Setting
from txcalc.accounts.storage import Storage
from txcalc.exact.quantity import ZERO, Quantity, const, product, total
from txcalc.model.cut import held, stands_before
from txcalc.model.model import Row
from txcalc.model.parts.attention import MultiHead
from txcalc.model.parts.mla import Latent
from txcalc.model.parts.positions import Rotary
from txcalc.model.rows import Weight
from txcalc.model.stages import Stage
from txcalc.workload.passes import Workload
from txcalc.workload.question import positive

NOTHING = ZERO.counted_as("bytes")
TABLE = const(2, "bytes/element")
"""Bytes of a cosine or a sine: vLLM stores them in the model's 16-bit format."""


class Gpu:
    """One GPU of a stage; towers, where a question has images or sound, are whole on the first.

    Raises:
        RefusedError: a part that a layout cannot divide.
        OptionError: stages that are not those of the model, or a cache that is not on all GPUs
            which are to divide it by tokens.
    """

    def __init__(self, setting: Setting, workload: Workload, stage: int = 0) -> None:
        question = setting.question
        self._setting = setting
        self._layout, self._engine = question.layout, question.serving
        self._model, self._stage = setting.model, stage
        layers = Stage(setting.model, self._layout, stage).layers.get("decoder")
        self._storage = Storage(setting.model, question, mtp=question.mtp, layers=layers)
        self._held = list(held(setting.model, self._layout, stage))
        self.caches = Caches(setting, workload, self._held)
        beside = setting.model.tower_rows if setting.sights and stage == 0 else ()
        rows = (*self._held, *(row for row in beside if isinstance(row.declared, Weight)))
        self.rows = [row for row in rows if self._is_here(row)]

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

    @property
    def loaded(self) -> Quantity:
        """What an engine reports once it has loaded: weights, tables and modules."""
        return total((*self.weights.values(), self.tables, self.mtp), "bytes")

    @property
    def total(self) -> Quantity:
        """All that is held between steps."""
        return total((self.loaded, *self.caches.by_kind.values(), self.caches.fixed), "bytes")

    @property
    def step_tokens(self) -> Quantity:
        """Tokens of a step: those asked for, or one of each sequence."""
        asked = self._setting.question.step_tokens
        return self.caches.sequences if asked is None else positive("step_tokens", asked)

    @cached_property
    def step(self) -> dict[str, Quantity]:
        """Bytes of the sequences' logits, and of the widest output of a product of a step."""
        sequences = self.caches.sequences
        running = (row.declared for row in self._held if row.given == "decoder")
        products = (w for w in running if isinstance(w, Weight) and w.use == "matmul")
        widths = (product(weight.used, weight.written) for weight in products)
        widest = max(widths, key=lambda width: width.value, default=ZERO)
        outputs = (row.weight.written for row in self._held if row.address == "head.output")
        elements = {
            "logits": product(sequences, next(outputs, ZERO)),
            "widest": product(self.step_tokens, widest),
        }
        size = self._setting.question.activation_bytes
        return {name: product(n.counted_as("elements"), size) for name, n in elements.items()}

    def _by_role(self, rows: Iterable[Row]) -> dict[str, Quantity]:
        roles: dict[str, list[Quantity]] = {}
        for row in rows:
            roles.setdefault(row.role, []).append(self._bytes(row))
        return {role: total(each, "bytes") for role, each in roles.items()}

    def _bytes(self, row: Row) -> Quantity:
        """Bytes of a row in all layers of the stage."""
        weight = row.weight
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
        """An equal share of a row of the model; nothing of what an earlier stage has as well."""
        if stands_before(self._model, self._layout, self._stage, row):
            return NOTHING
        return self._bytes(self._whole(row)) / product(self._layout.tp, self._layout.dp)

    def _is_padded(self, row: Row) -> bool:
        """Whether a row has an output for each entry of the vocabulary."""
        return row.name.startswith(("tokens", "output")) and row.component in ("embedding", "head")


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
