"""What a user may ask for beside a model, and the workload that makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import msgspec

from txcalc.errors import OptionError, RefusedError
from txcalc.exact.quantity import LARGEST, Letter, Number, defined, total
from txcalc.model.model import Model
from txcalc.model.rows import Weight
from txcalc.workload.formats import size
from txcalc.workload.passes import Logits, Mla, Pass, Phase, Scores, Workload

ENCODER_ONLY = "an encoder-only model reads a whole text at once; it generates nothing"
PARTIAL = (
    "its block {!r} is partial: it has a mechanism that no part describes, "
    "so its parameters are all that can be told"
)

PROMPT = 20
"""Tokens of a prompt that generation begins with where none is asked for."""

MEANINGS = {
    "ctx": "context in tokens",
    "source": "the encoder's length in tokens",
    "batch": "sequences at once",
    "prompt": "prompt in tokens",
    "new": "tokens generated",
    "tokens": "tokens of each sequence",
}
"""The letters of a question."""
LETTERS = tuple(name for name in MEANINGS if name != "tokens")
"""Those that figures depend on; ``tokens`` is of shapes alone."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a command; None stands for the model's own or the account's default."""

    ctx: int | None = None
    source: int | None = None
    batch: int = 1
    prompt: int | None = None
    new: int = 100
    tokens: int = 8
    phase: Phase = "token"
    scores: Scores = "full"
    logits: Logits = "all"
    macs: bool = False
    mla: Mla | None = None
    dtype: str = "fp16"
    weights: str | None = None
    kv: str | None = None

    def __post_init__(self) -> None:
        """Refuses what no figure could use, whether the one asked for depends on it or not.

        Raises:
            OptionError: a length or a batch that is not positive, or an unknown number format.
        """
        for name in MEANINGS:
            if (value := getattr(self, name)) is not None:
                positive(name, value)
        for fmt in (self.dtype, self.weights, self.kv):
            if fmt is not None:
                size(fmt, "", "elements")

    @property
    def weight_bytes(self) -> Letter:
        """Bytes of one parameter."""
        return size(self.weights or self.dtype, "weight_bytes", "parameters")

    @property
    def kv_bytes(self) -> Letter:
        """Bytes of one element of the cache."""
        return size(self.kv or self.dtype, "kv_bytes", "elements")

    @property
    def activation_bytes(self) -> Letter:
        """Bytes of one element between two products."""
        return size(self.dtype, "activation_bytes", "elements")

    def length(self, model: Model, name: str, value: int | None) -> Letter:
        """A number of tokens, by default the model's own context.

        Raises:
            OptionError: no positive number.
            RefusedError: none given, and none of the model's own.
        """
        if value is None:
            if model.context is None:
                raise RefusedError(f"{model.name} states no context of its own: give --{name}")
            return defined(name, model.context, about=MEANINGS[name])
        return positive(name, value)

    def workload(
        self, model: Model, *, phase: Phase | None = None, ctx: Letter | None = None
    ) -> Workload:
        """The workload of this question for a model.

        Raises:
            OptionError: a length or a batch that is not positive.
            RefusedError: a phase that the model does not have.
        """
        phase = phase or self.phase
        if phase in ("token", "decode") and not model.has_decoder:
            raise RefusedError(
                f"{model.name}: no phase {phase!r}: {ENCODER_ONLY}; ask for --phase prefill"
            )
        ctx = ctx or self.length(model, "ctx", self.ctx)
        if not model.has_encoder or not model.has_decoder:
            if self.source is not None:
                raise OptionError(
                    f"{model.name} has no encoder beside a decoder: --source means nothing"
                )
            source = ctx
        else:
            source = (
                defined("source", ctx, about=MEANINGS["source"])
                if self.source is None
                else positive("source", self.source)
            )
        return Workload(
            phase=phase,
            ctx=ctx,
            source=source,
            batch=positive("batch", self.batch),
            scores=self.scores,
            logits=self.logits,
            mla=self.mla,
        )

    def origin(self, model: Model, name: str, value: int | None) -> str:
        """An assumption in words: ``ctx 1,024 (the model's own)``."""
        own = " (the model's own)" if value is None else ""
        return f"{name} {self.length(model, name, value).value:,}{own}"


def positive(name: str, value: object) -> Letter:
    """A letter of the question.

    Raises:
        OptionError: no whole number, or one below 1 or above 10^15.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LARGEST:
        raise OptionError(f"--{name} {value}: a whole number from 1 to 10^15 is needed")
    return asked(name, value)


def asked(name: str, value: Number) -> Letter:
    """A letter of the question, which knows what it means."""
    return Letter(value, name, about=MEANINGS[name])


def passes(model: Model, workload: Workload) -> dict[str, Pass]:
    """What each stack of a model runs."""
    found = {}
    if model.has_encoder:
        length = workload.source if model.has_decoder else workload.ctx
        found["encoder"] = workload.encoder(length)
    if model.has_decoder:
        found["decoder"] = workload.decoder()
    return found


def beside_blocks(
    model: Model, by_stack: dict[str, Pass]
) -> dict[str, tuple[Mapping[str, Weight], Pass]]:
    """The rows outside of blocks by component, and what each is given.

    The embedding is given the tokens of every stack; the head the positions whose logits are
    wanted, the decoder's where there is one.
    """
    main = by_stack.get("decoder") or by_stack["encoder"]
    every = total((given.tokens for given in by_stack.values()), "")
    return {
        "embedding": (model.embedding, msgspec.structs.replace(main, tokens=every)),
        "head": (model.output, msgspec.structs.replace(main, tokens=main.logits)),
        "tensors": (model.tensors, main),
    }


def refuse_partial(model: Model) -> None:
    """Refuses a model with a block that is not wholly described.

    Raises:
        RefusedError: naming the block.
    """
    for name, block in model.blocks.items():
        if block.partial:
            raise RefusedError(f"{model.name}: {PARTIAL.format(name)}")


def refuse_encoder_only(model: Model, what: str) -> None:
    """Refuses a model that keeps nothing between steps because it makes none.

    Raises:
        RefusedError: naming ``what`` was asked for.
    """
    if not model.has_decoder:
        raise RefusedError(f"{model.name}: no {what}: {ENCODER_ONLY}")


def position_warnings(model: Model, length: Letter, source: Letter | None = None) -> list[str]:
    """A warning where a length is beyond the learned positions; an encoder's is the source."""
    found = []
    for name, stack in model.stacks.items():
        table: Letter | None = getattr(stack.positions, "n_positions", None)
        beside = name == "encoder" and model.has_decoder
        given, context = (source, None) if beside else (length, model.context)
        if table is None or given is None:
            continue
        learned = table if context is None else min(table, context, key=_value)
        if given.value > learned.value:
            found.append(
                f"{model.name}: {given.name} {given.value:,} is beyond the {learned.value:,} "
                f"learned positions of its {name}"
            )
    return found


def _value(letter: Letter) -> int | Fraction:
    return letter.value
