"""A question put to a model: its lengths, each a letter made once, and its workloads."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import msgspec

from txcalc.errors import OptionError, RefusedError
from txcalc.exact.quantity import Letter, defined, total
from txcalc.model.model import Given, Model
from txcalc.workload.passes import NOTHING, Pass, Phase, Workload
from txcalc.workload.question import MEANINGS, Question, positive

ENCODER_ONLY = "an encoder-only model reads a whole text at once; it generates nothing"
PARTIAL = (
    "its block {!r} is partial: it has {} that no part describes, "
    "so only its parameters can be counted"
)
OWN = " (the model's own)"


class Setting:
    """The lengths and workloads of one question for one model."""

    def __init__(self, model: Model, question: Question) -> None:
        self.model = model
        self.question = question

    @cached_property
    def ctx(self) -> Letter:
        """The context: by default the model's own.

        Raises:
            RefusedError: none given, and none of the model's own.
        """
        return self._length("ctx", self.question.ctx)

    @cached_property
    def prompt(self) -> Letter:
        """The prompt: by default the context."""
        given = self.question.prompt
        return self.ctx if given is None else positive("prompt", given)

    @cached_property
    def batch(self) -> Letter:
        """Sequences at once."""
        return positive("batch", self.question.batch)

    def source(self, ctx: Letter) -> Letter:
        """The encoder's length: by default the length its inputs are padded to, else ``ctx``.

        Raises:
            OptionError: one given for a model that has no encoder beside a decoder.
        """
        given = self.question.source
        if not self.has_source:
            if given is not None:
                raise OptionError(
                    f"{self.model.name} has no encoder beside a decoder: --source means nothing"
                )
            return ctx
        if given is not None:
            return positive("source", given)
        return defined("source", self._padded or ctx, about=MEANINGS["source"])

    @property
    def has_source(self) -> bool:
        """Whether a decoder attends to an encoder's tokens."""
        return self.model.has_encoder and self.model.has_decoder

    def workload(self, phase: Phase | None = None, ctx: Letter | None = None) -> Workload:
        """The workload of a phase, by default the question's.

        Raises:
            OptionError: a source that means nothing.
            RefusedError: a phase or a context that the model does not have.
        """
        question = self.question
        phase = phase or question.phase
        if phase in ("token", "decode") and not self.model.has_decoder:
            raise RefusedError(
                f"{self.model.name}: no phase {phase!r}: {ENCODER_ONLY}; ask for --phase prefill"
            )
        ctx = ctx or self.ctx
        return Workload(
            phase=phase,
            ctx=ctx,
            source=self.source(ctx),
            batch=self.batch,
            scores=question.scores,
            logits=question.logits,
            mla=question.mla,
        )

    def passes(self, workload: Workload) -> dict[Given, Pass]:
        """What each stack runs, and what stands beside the stacks: see :data:`Given`."""
        model = self.model
        length = workload.source if model.has_decoder else workload.ctx
        encoder = workload.encoder(length) if model.has_encoder else NOTHING
        decoder = workload.decoder() if model.has_decoder else NOTHING
        main = decoder if model.has_decoder else encoder
        every = total((run.tokens for run in (encoder, decoder)), "")
        return {
            "encoder": encoder,
            "decoder": decoder,
            "main": main,
            "every": msgspec.structs.replace(main, tokens=every),
            "head": msgspec.structs.replace(main, tokens=main.logits),
            "none": NOTHING,
        }

    def stated(self, length: Letter, name: str = "") -> str:
        """A length as an assumption: ``ctx 1,024 (the model's own)``."""
        own = any(length.definition is stated for stated in (self.model.context, self._padded))
        is_own = length.definition is not None and own
        return f"{name or length.name} {length.value:,}{OWN if is_own else ''}"

    def refuse_partial(self, stack: Literal["decoder"] | None = None) -> None:
        """Refuses a model with a block, of one ``stack`` or of any, that is not wholly described.

        Raises:
            RefusedError: naming the block and its mechanism.
        """
        for kind in self.model.layers:
            if kind.block.partial and stack in (None, kind.stack):
                mechanism = kind.block.mechanism
                has = f"{mechanism}, a mechanism" if mechanism else "a mechanism"
                raise RefusedError(f"{self.model.name}: {PARTIAL.format(kind.name, has)}")

    def refuse_encoder_only(self, figure: str) -> None:
        """Refuses a model that keeps nothing between steps because it makes none.

        Raises:
            RefusedError: naming the ``figure`` asked for.
        """
        if not self.model.has_decoder:
            raise RefusedError(f"{self.model.name}: no {figure}: {ENCODER_ONLY}")

    def warnings(self, length: Letter, source: Letter | None = None) -> list[str]:
        """A warning where a length is beyond the learned positions; an encoder's is the source."""
        return [
            warning for name in self.model.stacks if (warning := self._beyond(name, length, source))
        ]

    def _beyond(self, stack: str, length: Letter, source: Letter | None) -> str:
        positions = self.model.stacks[stack].positions
        table: Letter | None = getattr(positions, "n_positions", None)
        beside = stack == "encoder" and self.model.has_decoder
        given, context = (source, None) if beside else (length, self.model.context)
        if table is None or given is None:
            return ""
        learned = table.value if context is None else min(table.value, context.value)
        if given.value <= learned:
            return ""
        return (
            f"{self.model.name}: {given.name} {given.value:,} is beyond the {learned:,} "
            f"learned positions of its {stack}"
        )

    def _length(self, name: str, value: int | None) -> Letter:
        if value is not None:
            return positive(name, value)
        if self.model.context is None:
            raise RefusedError(f"{self.model.name} states no context of its own: give --{name}")
        return defined(name, self.model.context, about=MEANINGS[name])

    @property
    def _padded(self) -> Letter | None:
        """The length that an encoder's inputs are padded to, where it is stated."""
        encoder = self.model.stacks.get("encoder")
        return None if encoder is None else encoder.length
