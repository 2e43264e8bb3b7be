"""What a cache saves while a text is generated token by token."""

from __future__ import annotations

from collections.abc import Mapping

from txcalc.accounts.question import (
    MEANINGS,
    PROMPT,
    Question,
    position_warnings,
    positive,
    refuse_encoder_only,
    refuse_partial,
)
from txcalc.errors import RefusedError
from txcalc.exact.counting import series
from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity, defined, least, product, total
from txcalc.model.model import Model
from txcalc.model.rows import Stream, Weight
from txcalc.report.report import Figures, Report
from txcalc.workload.entries import complete, met, met_by_all
from txcalc.workload.passes import Pass, per_multiply_add

CONVENTIONS = [
    "naive: step i of N after a prompt of P computes all P+i-1 tokens again, full scores",
    "cached: step i computes one token at context P+i-1, the prompt being cached already",
    "with prefill: the prompt's own pass counts too and yields the first new token: P+N-1 tokens",
    "1 multiply-add = 2 FLOPs; blocks only, without the head",
]
_ENCODER = ["decoder blocks only: the encoder and the cross keys and values run once either way"]


def account(model: Model, question: Question) -> Report:
    """Tokens processed and FLOPs, naive and cached, after each of some steps and at the end."""
    refuse_partial(model)
    refuse_encoder_only(model, "generation")
    prompt = positive("prompt", PROMPT if question.prompt is None else question.prompt)
    new = positive("new", question.new)
    run = _Generation(model, question, prompt)
    steps = [1]
    while 2 * steps[-1] < new.value:
        steps.append(2 * steps[-1])
    figures: Figures = {}
    for step in steps:
        after = Letter(step, "new", f"after.{step}", about=MEANINGS["new"])
        figures |= run.compared(f"generation.after.{step}", after)
    figures |= run.compared("generation", new)
    figures |= run.compared("generation.with_prefill", new, prefill=True)
    return Report(
        title="generation",
        model=model.name,
        source=model.source,
        figures=figures,
        shown=list(figures),
        assumptions=[
            f"generation of {new.value:,} tokens after a prompt of {prompt.value:,}",
            *([f"source {run.source.value:,}"] if model.has_encoder else []),
        ],
        conventions=CONVENTIONS + (_ENCODER if model.has_encoder else []),
        warnings=position_warnings(model, _last(prompt, new)),
    )


class _Generation:
    """Both ways of generating tokens after one prompt."""

    def __init__(self, model: Model, question: Question, prompt: Letter) -> None:
        self._name = model.name
        self._prompt = prompt
        self._per_mac = per_multiply_add(macs=False, phase="decode")
        self._layers = [
            (kind.count, _merged(kind.rows), list(kind.block.operations(kind.d_model).values()))
            for kind in model.decoder_layers
        ]
        workload = question.workload(model, phase="decode", ctx=prompt)
        self.source = workload.source if model.has_encoder else ZERO

    def compared(self, address: str, new: Letter, *, prefill: bool = False) -> Figures:
        """``new`` tokens both ways, in tokens processed and in FLOPs of the blocks."""
        ways = {"naive": self._naive(new), "cached": self._cached(new, prefill=prefill)}
        figures = {
            f"{address}.tokens.{way}": given.tokens.counted_as("tokens")
            for way, given in ways.items()
        }
        figures |= {f"{address}.flops.{way}": self._blocks(given) for way, given in ways.items()}
        for what in ("tokens", "flops"):
            naive, cached = (figures[f"{address}.{what}.{way}"] for way in ways)
            if not cached.value:
                raise RefusedError(
                    f"{self._name}: no generation: its blocks have no products to compare"
                )
            figures[f"{address}.{what}.ratio"] = naive / cached
        return figures

    def _naive(self, new: Letter) -> Pass:
        """All tokens again for each new one."""
        prompt, last = self._prompt, _last(self._prompt, new)
        tokens = series(ZERO, None, prompt, last)
        return Pass(
            tokens=tokens,
            pairs=lambda window: series(ONE, window, prompt, last),
            entries=lambda block, cap: met_by_all(block, cap, prompt, last),
            cross_pairs=product(tokens, self.source),
        )

    def _cached(self, new: Letter, *, prefill: bool) -> Pass:
        """One token for each new one; with ``prefill``, the prompt's own pass makes the first."""
        prompt, last = self._prompt, _last(self._prompt, new)
        tokens = last if prefill else new
        first = prompt + ONE if prefill else prompt

        def pairs(window: Quantity | None) -> Quantity:
            steps = series(ZERO, window, first, last)
            if not prefill:
                return steps
            return product(prompt, prompt if window is None else least(prompt, window)) + steps

        def entries(block: Quantity, cap: Quantity | None) -> Quantity:
            steps = met(block, cap, first, last)
            return product(prompt, complete(prompt, block, cap)) + steps if prefill else steps

        return Pass(
            tokens=tokens,
            pairs=pairs,
            entries=entries,
            cross_pairs=product(tokens, self.source),
        )

    def _blocks(self, given: Pass) -> Quantity:
        """FLOPs of all layers."""
        layers = []
        for count, weights, operations in self._layers:
            spent = [given.matmul(row, self._per_mac) for row in weights]
            spent += [given.without_weight(op, self._per_mac) for op in operations]
            layers.append(product(count, total(spent, "FLOPs")))
        return total(layers, "FLOPs")


def _merged(rows: Mapping[str, Weight]) -> list[Weight]:
    """One row for all that multiply the same tokens, since every step asks for their sum alone."""
    alike: dict[tuple[Stream, Quantity | None], list[Quantity]] = {}
    for row in rows.values():
        if row.use == "matmul":
            each = product(row.used, row.repeats, row.each)
            alike.setdefault((row.stream, row.window), []).append(each)
    return [
        Weight(name=stream, use="matmul", outputs=(total(each, ""),), stream=stream, window=window)
        for (stream, window), each in alike.items()
    ]


def _last(prompt: Letter, new: Letter) -> Letter:
    """The context of the last step."""
    return defined("last", prompt + new - ONE, about="context of the last step")
