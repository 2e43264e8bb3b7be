"""How many bytes a sequence keeps between steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from txcalc.accounts.account import Account
from txcalc.accounts.fold import keeping, over_all
from txcalc.accounts.setting import Setting
from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity, product, total
from txcalc.model.model import Model
from txcalc.model.rows import State
from txcalc.report import address as grammar
from txcalc.report.report import Figures, Report
from txcalc.workload.chosen import check_names
from txcalc.workload.formats import NUMBERS, Format, size
from txcalc.workload.passes import Workload
from txcalc.workload.question import Question
from txcalc.workload.reach import Entries, Fixed, Open, Source

CONVENTIONS = [
    "token = bytes that one token writes in all layers; growth = what one more token adds at ctx",
    "a window keeps min(ctx, window) tokens; sequence = growing, fixed and cross parts at ctx",
]
ENTRIES = "compressed entries: one a complete block of tokens, so token and growth are their mean"
Part = Literal["token", "growth", "fixed", "cross", "sequence"]
PARTS: tuple[Part, ...] = get_args(Part)


def report(model: Model, question: Question) -> Report:
    """The cache of one sequence by kind of layer, and of the batch."""
    setting = Setting(model, question, sees=True)
    setting.refuse_partial("decoder")
    setting.refuse_encoder_only("KV cache")
    setting.refuse_crossing()
    workload = setting.workload("decode")
    figures = cache(model, workload, question)
    kinds = [
        f"{grammar.block('kvcache', kind.name)}.{part}"
        for kind in model.decoder_layers
        for part in ("token", "sequence")
        if kind.state
    ]
    figures |= _rows(model, workload, question)
    figures["kvcache.total"] = product(workload.batch, figures["kvcache.sequence"])
    return Report(
        title="KV cache",
        figures=figures,
        notes={
            grammar.block("kvcache", kind.name): f"x {kind.states.value:,}"
            for kind in model.decoder_layers
        },
        shown=kinds + [f"kvcache.{part}" for part in (*PARTS, "total")],
        assumptions=[*assumptions(setting, workload), f"batch {question.batch}", *setting.seen()],
        conventions=[*CONVENTIONS, *([ENTRIES] if _has_entries(model) else [])],
        warnings=setting.warnings(workload.ctx, workload.source),
    )


def _has_entries(model: Model) -> bool:
    return any(
        isinstance(state.reach, Entries | Open)
        for kind in model.decoder_layers
        for state in kind.state.values()
    )


def assumptions(setting: Setting, workload: Workload) -> list[str]:
    """The lengths and the format in words."""
    question, lines = setting.question, [setting.stated(workload.ctx)]
    if setting.model.has_encoder:
        lines.append(setting.stated(workload.source, "source"))
    rest = "" if question.cache_formats.number else f", the rest {question.dtype}"
    return [*lines, f"cache {question.kv or question.dtype}{rest}"]


def cache(model: Model, workload: Workload, question: Question) -> Figures:
    """Bytes of one sequence: a layer of each kind, and all layers."""
    bytes_of = CacheFormats(model, question).bytes_of
    figures: Figures = {}
    for part in PARTS:
        layers = {
            f"block.{kind.name}": bytes_of(kept(part, kind.state.values(), workload))
            for kind in model.decoder_layers
        }
        figures |= {f"kvcache.{block}.{part}": layer for block, layer in layers.items()}
        figures[f"kvcache.{part}"] = over_all(model, layers, keeping, "bytes")
    return figures


def _rows(model: Model, workload: Workload, question: Question) -> Figures:
    """Bytes of each state by its name, in all layers, of the batch at ctx."""
    bytes_of = CacheFormats(model, question).bytes_of
    figures: Figures = {}
    for name in _names(model):
        layers = {
            f"block.{kind.name}": bytes_of(
                kept("sequence", (s for s in kind.state.values() if s.name == name), workload)
            )
            for kind in model.decoder_layers
        }
        whole = over_all(model, layers, keeping, "bytes")
        figures[f"kvcache.rows.{name}"] = product(workload.batch, whole)
    return figures


def _names(model: Model) -> list[str]:
    """The states that the model's layers keep, by name."""
    kinds = model.decoder_layers
    return list(dict.fromkeys(state.name for kind in kinds for state in kind.state.values()))


def kept(
    part: Part, states: Iterable[State], workload: Workload
) -> Iterator[tuple[State, Quantity]]:
    """How many tokens' worth of each state a part counts, of those that it counts at all."""
    for state in states:
        if (tokens := _tokens(part, state, workload)) is not ZERO:
            yield state, tokens


class CacheFormats:
    """In which formats a model's states are kept.

    Tiles as a base hold what is kept of tokens; a fixed state stays a flat number.
    """

    def __init__(self, model: Model, question: Question) -> None:
        self._chosen, self._number = question.cache_formats, question.kv_bytes
        check_names("kv", self._chosen, _names(model), model.name)

    def bytes_of(self, kept: Iterable[tuple[State, Quantity]]) -> Quantity:
        """Bytes of states, each with the tokens that it keeps; those in one flat number together.

        The tiles of a format lie along the elements of one token.
        """
        flat: dict[str, list[Quantity]] = {"": []}
        tiled = []
        for state, tokens in kept:
            fmt = self._format(state)
            if isinstance(fmt, str):
                flat.setdefault(fmt, []).append(product(state.width, tokens))
            else:
                tiled.append(fmt.bytes(tokens, state.width))
        numbers = (
            product(total(elements, "").counted_as("elements"), self._size(fmt))
            for fmt, elements in flat.items()
        )
        return total((*numbers, *tiled), "bytes")

    def _format(self, state: State) -> Format | str:
        """The format of a state's tiles, or the name of its flat number; "" is the cache's."""
        fmt = self._chosen.named.get(state.name)
        if fmt is None and state.fmt is not None:
            return state.fmt
        if fmt is None and not isinstance(state.reach, Fixed) and not self._chosen.number:
            fmt = self._base
        return "" if fmt is None else fmt.name if fmt.name in NUMBERS else fmt

    @property
    def _base(self) -> Format | None:
        base = self._chosen.base
        return base if isinstance(base, Format) else None

    def _size(self, fmt: str) -> Letter:
        return size(fmt, f"{fmt}_bytes", "elements", "its own format") if fmt else self._number


def _tokens(part: Part, state: State, workload: Workload) -> Quantity:
    """How many tokens' worth of a state a part counts."""
    match part, state.reach:
        case ("cross" | "sequence", Source()):
            return workload.source
        case ("fixed" | "sequence", Fixed()):
            return ONE
        case (_, Source() | Fixed()):
            return ZERO
        case ("token", reach):
            return reach.written
        case ("growth", reach):
            return reach.growth(workload.ctx)
        case ("sequence", reach):
            return reach.kept(workload.ctx)
        case ("fixed" | "cross", _):
            return ZERO


ACCOUNT = Account(reads=("ctx", "image", "audio", "batch", "source", "dtype", "kv"), make=report)
