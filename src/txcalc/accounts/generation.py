"""What a cache saves while a text is generated token by token."""

from __future__ import annotations

from txcalc.accounts import flops
from txcalc.accounts.question import (
    Question,
    asked,
    position_warnings,
    positive,
    refuse_encoder_only,
    refuse_partial,
)
from txcalc.entries import complete, met, met_by_all
from txcalc.errors import RefusedError
from txcalc.model import Model
from txcalc.quantity import ONE, ZERO, Letter, Quantity, defined, least, product, series, total
from txcalc.report import Figures, Report
from txcalc.workload import Pass, per_multiply_add

PROMPT = 20
CONVENTIONS = [
    "naive: step i of N after a prompt of P computes all P+i-1 tokens again, full score squares",
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
    figures: Figures = {}
    steps = [1]
    while 2 * steps[-1] < new.value:
        steps.append(2 * steps[-1])
    for step in steps:
        after = f"generation.after.{step}"
        figures |= _compared(after, model, question, prompt, asked("new", step))
    figures |= _compared("generation", model, question, prompt, new)
    figures |= _compared("generation.with_prefill", model, question, prompt, new, prefill=True)
    return Report(
        title="generation",
        model=model.name,
        source=model.source,
        figures=figures,
        shown=list(figures),
        assumptions=[f"prompt {prompt.value:,}", f"new {new.value:,}"],
        conventions=CONVENTIONS + (_ENCODER if model.has_encoder else []),
        warnings=position_warnings(model, _last(prompt, new)),
    )


def _compared(
    address: str,
    model: Model,
    question: Question,
    prompt: Letter,
    new: Letter,
    *,
    prefill: bool = False,
) -> Figures:
    """Both ways of generating ``new`` tokens, in tokens processed and in FLOPs of the blocks."""
    ways = {
        "naive": _naive(model, question, prompt, new),
        "cached": _cached(model, question, prompt, new, prefill=prefill),
    }
    tokens = {f"{address}.tokens.{way}": p.tokens.counted_as("tokens") for way, p in ways.items()}
    spent = {f"{address}.flops.{way}": _blocks(model, given) for way, given in ways.items()}
    figures = tokens | spent
    for what in ("tokens", "flops"):
        naive, cached = (figures[f"{address}.{what}.{way}"] for way in ways)
        if not cached.value:
            raise RefusedError(
                f"{model.name}: no generation: its blocks have no products to compare"
            )
        figures[f"{address}.{what}.ratio"] = naive / cached
    return figures


def _naive(model: Model, question: Question, prompt: Letter, new: Letter) -> Pass:
    """All tokens again for each new one."""
    last = _last(prompt, new)
    tokens = series(ZERO, None, prompt, last)
    return Pass(
        tokens=tokens,
        pairs=lambda window: series(ONE, window, prompt, last),
        entries=lambda block, cap: met_by_all(block, cap, prompt, last),
        cross_pairs=product(tokens, _source(model, question, prompt)),
    )


def _cached(
    model: Model, question: Question, prompt: Letter, new: Letter, *, prefill: bool
) -> Pass:
    """One token for each new one; with ``prefill``, the first one comes from the prompt's pass."""
    last = _last(prompt, new)
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
        cross_pairs=product(tokens, _source(model, question, prompt)),
    )


def _last(prompt: Letter, new: Letter) -> Letter:
    """The context of the last step."""
    return defined("last", prompt + new - ONE, about="context of the last step")


def _source(model: Model, question: Question, prompt: Letter) -> Quantity:
    return (
        question.workload(model, phase="decode", ctx=prompt).source if model.has_encoder else ZERO
    )


def _blocks(model: Model, given: Pass) -> Quantity:
    per_mac = per_multiply_add(macs=False, phase="decode")
    blocks = []
    for kind in model.decoder_layers:
        weights, operations = flops.products(kind, given, per_mac)
        layer = total((*weights.values(), *operations.values()), "FLOPs")
        blocks.append(product(kind.count, layer))
    return total(blocks, "FLOPs")
