"""Towers and projectors of a description."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from txcalc.errors import nearest
from txcalc.exact.quantity import LARGEST
from txcalc.model.structure import Block, Stack
from txcalc.model.tower import Conv, Projector, Side, Tower
from txcalc.sources.pieces import Pieces

S = TypeVar("S", bound=Side)

_OF_TEXT = ("vocab", "d_model", "length", "token_types")
"""Fields of a stack that only a text model's has."""


class Sides(Pieces):
    """Decodes the towers beside a text model, or in its place."""

    def towers(self, raws: dict[str, Any]) -> dict[str, Tower]:
        """The towers by name, each with its projector."""
        return {name: self._tower(name, raw) for name, raw in self.few(raws, "towers").items()}

    def _tower(self, name: str, raw: Any) -> Tower:
        path = f"towers.{name}"
        self.check_name(name, path)
        fields = dict(self.mapping(raw, path, Tower))
        raw_after = {after: fields.pop(after, None) for after in ("pooler", "projector")}
        raw_stem = self.few(self.mapping(fields.pop("stem", {}), f"{path}.stem", None), path)
        tower = self._side(fields, path, Tower)
        if tower.d_model is None:
            self.refuse(f"{path}.d_model", "missing, but it is needed")
        after = {
            field: self._side(each, f"{path}.{field}", Projector)
            for field, each in raw_after.items()
            if each is not None
        }
        return msgspec.structs.replace(tower, stem=self._stem(raw_stem, f"{path}.stem"), **after)

    def _stem(self, raw: dict[str, Any], path: str) -> dict[str, Conv]:
        stem = {}
        for name, each in raw.items():
            self.check_name(name, f"{path}.{name}")
            stem[name] = conv = self.decode(each, Conv, f"{path}.{name}")
            if not 0 < conv.stride <= LARGEST or not 0 <= conv.padding <= LARGEST:
                self.refuse(f"{path}.{name}", "a stride from 1 on and a padding from 0 on")
        return stem

    def _side(self, raw: Any, path: str, kind: type[S]) -> S:
        """A tower or a projector; names of dimensions are first looked up in it."""
        fields = dict(self.mapping(raw, path, kind))
        raw_blocks, raw_stack = fields.pop("blocks", {}), fields.pop("layers", None)
        raw_tensors = fields.pop("tensors", {})
        side = self.decode(fields, kind, path)
        if (side.d_model is None or not raw_blocks) and (raw_stack or raw_blocks):
            needed = "d_model" if side.d_model is None else "blocks"
            self.refuse(f"{path}.{needed}", "missing, but its layers need it")
        outer, self._base = self._base, self._base if side.d_model is None else f"{path}."
        self.width = side.d_model
        stack = None if raw_stack is None else self._layers(raw_stack, f"{path}.layers")
        blocks = {}
        for name, block in self.few(self.mapping(raw_blocks, f"{path}.blocks", None), path).items():
            blocks[name] = self.block(name, block, f"{path}.blocks.{name}")
        tensors = self.tensors(raw_tensors, f"{path}.tensors", "")
        self._check_named(blocks, stack, path)
        self._base = outer
        return msgspec.structs.replace(side, blocks=blocks, layers=stack, tensors=tensors)

    def _layers(self, raw: Any, path: str) -> Stack:
        stack = self.stack(raw, path)
        for field in _OF_TEXT:
            if getattr(stack, field) is not None:
                self.refuse(f"{path}.{field}", "only a stack of a text model has it")
        return stack

    def _check_named(self, blocks: dict[str, Block], stack: Stack | None, path: str) -> None:
        used = [] if stack is None else list(stack.counts)
        for name in used:
            if name not in blocks:
                self.refuse(f"{path}.layers", f"no block {name!r}{nearest(name, list(blocks))}")
        for name in blocks:
            if name not in used:
                self.refuse(f"{path}.blocks.{name}", "no stack uses this block")
