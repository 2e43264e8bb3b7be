"""A question put to a model: its lengths, each a letter made once, and its workloads."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import msgspec

from txcalc.accounts.sights import Sight, sights, tower_passes
from txcalc.errors import OptionError, RefusedError
from txcalc.exact.condition import Condition
from txcalc.exact.quantity import ONE, Letter, defined, least, total
from txcalc.model.images import Padded
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
    """The lengths and workloads of one question for one model.

    Images and sound count for accounts that read them: where it ``sees``.
    """

    def __init__(self, model: Model, question: Question, *, sees: bool = False) -> None:
        self.model = model
        self.question = question
        self._sees = sees

    @cached_property
    def sights(self) -> dict[str, Sight]:
        """What each tower makes of the question's images and sound."""
        return sights(self.model, self.question) if self._sees else {}

    @cached_property
    def ctx(self) -> Letter:
        """The context: by default the model's own.

        Images and sound come on top of a context that is given; they fill a part of the model's
        own.

        Raises:
            RefusedError: none given, and none of the model's own.
        """
        given, beside = self.question.ctx, [sight.prompt for sight in self.sights.values()]
        if given is None or not beside:
            return self._length("ctx", given)
        text = Letter(positive("ctx", given).value, "text", about="tokens of the text")
        return defined("ctx", total((text, *beside), ""), about=MEANINGS["ctx"])

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

    def tower_passes(self, phase: Phase) -> dict[Given, Pass]:
        """What towers run: of one sequence for a token, before all steps of a decoder."""
        seen = {} if phase == "decode" else self.sights
        return tower_passes(self.model, seen, ONE if phase == "token" else self.batch)

    def stated(self, length: Letter, name: str = "") -> str:
        """A length as an assumption: ``ctx 1,024 (the model's own)``."""
        own = any(length.definition is stated for stated in (self.model.context, self._padded))
        is_own = length.definition is not None and own
        return f"{name or length.name} {length.value:,}{OWN if is_own else ''}"

    def seen(self) -> list[str]:
        """Images and sound as assumptions: ``image 480x640: 300 tokens``."""
        question, lines = self.question, []
        for name, sight in self.sights.items():
            is_image = sight.tower.reads == "image"
            what = f"image {question.image}" if is_image else f"audio {question.audio} s"
            lines.append(f"{what}: {sight.prompt.value:,} tokens of tower {name}")
        return lines

    def refuse_without_text(self) -> None:
        """Refuses a model of towers alone.

        Raises:
            RefusedError: saying what it can answer.
        """
        if not self.model.stacks:
            asked = {"image": "--image HxW", "sound": "--audio SECONDS"}
            reads = dict.fromkeys(asked[tower.reads] for tower in self.model.towers.values())
            raise RefusedError(
                f"{self.model.name}: no text model; its towers run on {' and '.join(reads)}"
            )

    def refuse_crossing(self) -> None:
        """Refuses images that a text model attends to in layers that are described as idle.

        Raises:
            RefusedError: naming them.
        """
        for sight in self.sights.values():
            if isinstance(sight.tower.image, Padded):
                raise RefusedError(
                    f"{self.model.name}: its text model attends to images by cross-attention, "
                    "whose products no part describes"
                )

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
            f"{self.model.name}: {limit.problem}"
            for limit in self.limits(length, source)
            if not limit.holds
        ]

    def limits(self, length: Letter, source: Letter | None = None) -> list[Condition]:
        """The lengths that the learned positions of the stacks allow."""
        limits = (self._limit(name, length, source) for name in self.model.stacks)
        return [limit for limit in limits if limit is not None]

    def _limit(self, stack: str, length: Letter, source: Letter | None) -> Condition | None:
        positions = self.model.stacks[stack].positions
        table: Letter | None = getattr(positions, "n_positions", None)
        beside = stack == "encoder" and self.model.has_decoder
        given, context = (source, None) if beside else (length, self.model.context)
        if table is None or given is None:
            return None
        learned = table if context is None else least(table, context)
        message = f"{given.name} {{0:,}} is beyond the {{1:,}} learned positions of its {stack}"
        return Condition("at most", given, learned, message)

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
