"""From the tree of a YAML description to a :class:`~txcalc.model.model.Model`."""

from typing import Annotated, Any, Literal

import msgspec

from txcalc.errors import OptionError, nearest
from txcalc.exact.quantity import Letter
from txcalc.model.model import Model
from txcalc.model.parts.base import Part, dim
from txcalc.model.structure import Block, Embedding, Head, Stack
from txcalc.sources.decoding import T
from txcalc.sources.pieces import KINDS
from txcalc.sources.sides import Sides
from txcalc.workload.chosen import chosen_weights

LONGEST_NAME = 300
"""Characters of a model's name, which stands above every column."""
STACKS = {"encoder": "encoder", "layers": "decoder"}


class Description(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The top level of a model file."""

    name: str
    source: str
    d_model: Annotated[Letter | None, dim("width of the residual stream")] = None
    vocab: Annotated[Letter | None, dim("rows of the token table")] = None
    blocks: dict[str, Any] = {}
    context: Annotated[Letter | None, dim("the model's own longest context")] = None
    parts: dict[str, Any] = {}
    layers: dict[str, Any] | None = None
    encoder: dict[str, Any] | None = None
    embedding: dict[str, Any] | None = None
    head: dict[str, Any] | None = None
    tensors: dict[str, Any] = {}
    mtp: dict[str, Any] | None = None
    towers: dict[str, Any] = {}
    scope: Literal["model", "text"] = "model"
    left_out: str | None = None
    stored: str | None = None
    notes: list[str] = []


def build(tree: Any, file: str) -> Model:
    """The model that a description means; ``file`` is what errors call it.

    Raises:
        DescriptionError: a field that is unknown, missing, of the wrong type or contradictory.
    """
    return _Builder(file).model(tree)


def kinds_in(tree: Any) -> dict[tuple[str, ...], type[Part]]:
    """The class of each part that a tree writes out, by path; parts of no known kind are left."""
    kinds_by_path = {}
    blocks = {("blocks", name): block for name, block in _fields(tree, "blocks").items()}
    for path, holder in (blocks | {(stack,): _fields(tree, stack) for stack in STACKS}).items():
        for role, kinds in KINDS.items():
            raw, place = _fields(holder).get(role), (*path, role)
            if isinstance(raw, str):
                raw, place = _fields(tree, "parts").get(raw), ("parts", raw)
            kind = _fields(raw).get("kind")
            if isinstance(kind, str) and kind in kinds:
                kinds_by_path[place] = kinds[kind]
    return kinds_by_path


def _fields(tree: Any, *path: str) -> dict[str, Any]:
    """A mapping at a path; an empty one where none stands there."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


class _Builder(Sides):
    """Decodes the whole."""

    def model(self, tree: Any) -> Model:
        """The whole model."""
        top = self.decode(tree, Description, "")
        self._parts = top.parts
        self._check_texts(top)
        if top.layers is None and top.encoder is None and not top.towers:
            self.refuse("", "neither layers (a decoder) nor encoder nor towers are described")
        stacks, blocks = self._text(top)
        towers = self.towers(top.towers)
        self.check_parts_used()
        d_model = top.d_model or next(t.d_model for t in towers.values() if t.d_model is not None)
        return Model(
            name=top.name,
            source=top.source,
            d_model=d_model,
            vocab=top.vocab,
            context=top.context,
            blocks=blocks,
            stacks=stacks,
            embedding=self._optional(top.embedding, Embedding, "embedding"),
            head=self._optional(top.head, Head, "head"),
            tensors=self.tensors(top.tensors, "tensors", ""),
            mtp=None if top.mtp is None else self.module(top.mtp, blocks),
            towers=towers,
            scope=top.scope,
            left_out=top.left_out,
            stored=self._stored(top.stored),
            notes=top.notes,
            dims=self.dims,
            conditions=self.conditions,
        )

    def _text(self, top: Description) -> tuple[dict[str, Stack], dict[str, Block]]:
        """The stacks of the text model and their blocks; of towers alone there are none."""
        raws = {field: raw for field in STACKS if (raw := getattr(top, field)) is not None}
        if not raws:
            for field in ("blocks", "head", "embedding", "mtp", "tensors", "vocab", "d_model"):
                if getattr(top, field):
                    self.refuse(field, "it belongs to a text model, but no stack is described")
            return {}, {}
        for field in ("d_model", "vocab", "blocks"):
            if not getattr(top, field):
                needed = "a mapping" if field == "blocks" else "a whole number"
                self.refuse(field, f"missing, but {needed} is needed")
        self.width = top.d_model
        stacks = {STACKS[field]: self.stack(raw, field) for field, raw in raws.items()}
        for field in ("d_model", "length") if len(stacks) < 2 else ():
            if any(getattr(stack, field) for stack in stacks.values()):
                self.refuse(f"encoder.{field}", f"only an encoder beside a decoder has a {field}")
        blocks = {}
        for name, raw in self.few(top.blocks, "blocks").items():
            encoder = stacks.get("encoder")
            own = encoder.d_model if encoder is not None and name in encoder.counts else None
            self.width = own or top.d_model
            blocks[name] = self.block(name, raw, f"blocks.{name}")
        self._check_blocks(blocks, stacks)
        return stacks, blocks

    def _check_texts(self, top: Description) -> None:
        for field, text in (("name", top.name), ("source", top.source)):
            if not text.isprintable():
                self.refuse(field, "it has characters that cannot be printed")
        if len(top.name) > LONGEST_NAME:
            self.refuse("name", f"{len(top.name):,} characters; at most {LONGEST_NAME}")

    def _stored(self, text: str | None) -> str | None:
        """The format of a checkpoint, as ``--weights`` takes it."""
        try:
            chosen_weights(text, "fp16")
        except OptionError as error:
            self.refuse("stored", str(error))
        return text

    def _optional(self, raw: Any, kind: type[T], path: str) -> T | None:
        return None if raw is None else self.decode(raw, kind, path)

    def _check_blocks(self, blocks: dict[str, Block], stacks: dict[str, Stack]) -> None:
        used: dict[str, str] = {}
        for field, stack_name in STACKS.items():
            stack = stacks.get(stack_name)
            for name in stack.counts if stack else ():
                if name not in blocks:
                    self.refuse(field, f"no block {name!r}{nearest(name, list(blocks))}")
                if name in used:
                    self.refuse(field, f"block {name!r} already belongs to {used[name]}")
                used[name] = field
        for name, block in blocks.items():
            if name not in used:
                self.refuse(f"blocks.{name}", "no stack uses this block")
            if getattr(block.attention, "square", None) is not None:
                where = f"blocks.{name}.attention.square"
                self.refuse(where, "only the patches of a tower stand in squares")
            merged = getattr(block.attention, "merged", False)
            across = "cross_attention" if block.cross_attention else "attention.merged"
            alone = used[name] == "encoder" or "encoder" not in stacks
            if alone and (block.cross_attention or merged):
                self.refuse(f"blocks.{name}.{across}", "only a decoder beside an encoder has it")
            if block.cross_attention and block.cross_attention.window:
                where = f"blocks.{name}.cross_attention.window"
                self.refuse(where, "a query attends to all of the source; leave it out")
