"""What a cache saves while a text is generated token by token."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from txcalc.accounts.account import Account
from txcalc.accounts.fold import flops, over_all, run
from txcalc.accounts.setting import Setting
from txcalc.errors import RefusedError
from txcalc.exact.counting import series
from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity, defined, product, total
from txcalc.model.model import Layers, Model, Row
from txcalc.model.rows import Op, Scan, State, Weight
from txcalc.report.report import Figures, Report
from txcalc.workload.passes import Mla, Pass, default_form, per_multiply_add
from txcalc.workload.question import MEANINGS, PROMPT, Question, positive

CONVENTIONS = [
    "naive: step i of N after a prompt of P computes all P+i-1 tokens again, full scores",
    "cached: step i computes one token at context P+i-1, the prompt being cached already",
    "with prefill: the prompt's own pass counts too and yields the first new token: P+N-1 tokens",
    "1 multiply-add = 2 FLOPs; blocks only, without the head",
]
_ENCODER = "decoder blocks only: the encoder and the cross keys and values run once either way"
_LATENT = "latent attention: a cached step is {}, a pass over many tokens {}"


def report(model: Model, question: Question) -> Report:
    """Tokens processed and FLOPs, naive and cached, after each of some steps and at the end."""
    setting = Setting(model, question)
    setting.refuse_partial()
    setting.refuse_encoder_only("generation")
    prompt = positive("prompt", PROMPT if question.prompt is None else question.prompt)
    new = positive("new", question.new)
    generation = _Generation(setting, prompt)
    steps = [1]
    while 2 * steps[-1] < new.value:
        steps.append(2 * steps[-1])
    figures: Figures = {}
    for step in steps:
        after = Letter(step, "new", f"after.{step}", about=MEANINGS["new"])
        figures |= generation.compared(f"generation.after.{step}", after)
    figures |= generation.compared("generation", new)
    figures |= generation.compared("generation.with_prefill", new, prefill=True)
    source = [setting.stated(generation.source, "source")] if setting.has_source else []
    return Report(
        title="generation",
        figures=figures,
        shown=list(figures),
        assumptions=[
            f"generation of {new.value:,} tokens after a prompt of {prompt.value:,}", *source
        ],
        conventions=[
            *CONVENTIONS,
            *([_ENCODER] if setting.has_source else []),
            *generation.forms(),
        ],
        warnings=setting.warnings(_last(prompt, new)),
    )  # fmt: skip


class _Generation:
    """Both ways of generating tokens after one prompt."""

    def __init__(self, setting: Setting, prompt: Letter) -> None:
        self._model = setting.model
        self._prompt = prompt
        self._per_mac = per_multiply_add(macs=False, phase="decode")
        self._layers = [
            (kind, _merged(setting.model, kind)) for kind in setting.model.decoder_layers
        ]
        self.source = setting.source(prompt)
        self._source = self.source if setting.has_source else ZERO
        self._step: Mla = setting.question.mla or default_form("decode")
        self._pass: Mla = setting.question.mla or default_form("prefill")

    def forms(self) -> list[str]:
        """The convention of latent attention, where the model has it."""
        operations = (op for kind, _ in self._layers for op in kind.operations.values())
        latent = any(isinstance(op, Op) and op.latent for op in operations)
        return [_LATENT.format(self._step, self._pass)] if latent else []

    def compared(self, address: str, new: Letter, *, prefill: bool = False) -> Figures:
        """``new`` tokens both ways, in tokens processed and in FLOPs of the blocks."""
        last = _last(self._prompt, new)
        made = [self._prefill()] if prefill else []
        steps = self._steps(new, last, ONE if prefill else ZERO)
        ways = {"naive": [self._naive(new, last)], "cached": [*made, steps]}
        figures = {
            f"{address}.tokens.{way}": total((one.tokens for one in passes), "").counted_as(
                "tokens"
            )
            for way, passes in ways.items()
        }
        figures |= {f"{address}.flops.{way}": self._blocks(passes) for way, passes in ways.items()}
        for counted in ("tokens", "flops"):
            naive, cached_ = (figures[f"{address}.{counted}.{way}"] for way in ways)
            if not cached_.value:
                raise RefusedError(
                    f"{self._model.name}: no generation: its blocks have no products to compare"
                )
            figures[f"{address}.{counted}.ratio"] = naive / cached_
        return figures

    def _naive(self, new: Letter, last: Letter) -> Pass:
        """All tokens again for each new one."""
        prompt = self._prompt
        tokens = series(ZERO, None, prompt, last)
        return Pass(
            tokens=tokens,
            attended=lambda reach: reach.recomputed(prompt, last),
            sequences=new,
            cross_pairs=product(tokens, self._source),
            mla=self._pass,
        )

    def _prefill(self) -> Pass:
        """The prompt's own pass, which makes the first new token."""
        prompt = self._prompt
        return Pass(
            tokens=prompt,
            attended=lambda reach: product(prompt, reach.one(prompt)),
            sequences=ONE,
            cross_pairs=product(prompt, self._source),
            mla=self._pass,
        )

    def _steps(self, new: Letter, last: Letter, made: Quantity) -> Pass:
        """One token for each new one beyond those ``made`` already."""
        first = self._prompt + made
        tokens = new - made
        return Pass(
            tokens=tokens,
            attended=lambda reach: reach.steps(first, last),
            sequences=tokens,
            cross_pairs=product(tokens, self._source),
            mla=self._step,
            past=lambda reach: reach.steps(first, last),
        )

    def _blocks(self, passes: Sequence[Pass]) -> Quantity:
        """FLOPs of all layers."""
        each = {
            f"block.{kind.name}": total(
                (
                    cost
                    for row in rows
                    for given in passes
                    if (cost := flops(row, given, self._per_mac)) is not None
                ),
                "FLOPs",
            )
            for kind, rows in self._layers
        }
        return over_all(self._model, each, run, "FLOPs")


def _merged(model: Model, kind: Layers) -> list[Row]:
    """One row for all that multiply the same tokens, since every step asks for their sum alone."""
    alike: dict[object, list[Row]] = {}
    rest = []
    for row in model.text_rows:
        if row.layers is not kind:
            continue
        match row.declared:
            case Weight(use="matmul") as weight:
                alike.setdefault((weight.stream, weight.reach), []).append(row)
            case Op() | Scan():
                rest.append(row)
            case Weight() | State():
                pass
    return [_sum(rows) for rows in alike.values()] + rest


def _sum(rows: list[Row]) -> Row:
    weights = [row.declared for row in rows if isinstance(row.declared, Weight)]
    each = total((weight.macs for weight in weights), "")
    merged = Weight(
        name=weights[0].stream, use="matmul", outputs=(each,), stream=weights[0].stream,
        reach=weights[0].reach,
    )  # fmt: skip
    return msgspec.structs.replace(rows[0], declared=merged)


def _last(prompt: Letter, new: Letter) -> Letter:
    """The context of the last step."""
    return defined("last", prompt + new - ONE, about="context of the last step")


ACCOUNT = Account(reads=("prompt", "new", "source", "mla"), make=report, layout="steps")
