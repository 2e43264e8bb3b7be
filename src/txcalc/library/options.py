"""The options of each question by name and type; :mod:`txcalc.accounts.options` has meanings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from textwrap import fill
from typing import Any, TypedDict, TypeVar, get_args, get_type_hints

from txcalc.accounts.options import meaning
from txcalc.workload.checkpoint import Checkpoint
from txcalc.workload.device import Device, Precision
from txcalc.workload.engine import EngineName
from txcalc.workload.passes import Logits, Mla, Phase, Scores
from txcalc.workload.question import Question
from txcalc.workload.training import Convention, Inventory, Kernel, Norms, Recipe, Recompute

Function = TypeVar("Function", bound=Callable[..., Any])
_HINTS = get_type_hints(Question)
Size = int | str
"""A whole number, or a text that writes one: ``32Ki``."""
Decimal = int | float | str


class _Ctx(TypedDict, total=False):
    ctx: Size
    source: Size


class ImageOptions(TypedDict, total=False):
    """What becomes of images depends on."""

    image: str


class AudioOptions(TypedDict, total=False):
    """What becomes of sound depends on."""

    audio: Decimal


class _Seen(ImageOptions, AudioOptions, total=False):
    pass


class _Batch(TypedDict, total=False):
    batch: Size


class _Prompt(TypedDict, total=False):
    prompt: Size


class _Pass(TypedDict, total=False):
    scores: Scores
    logits: Logits
    mla: Mla


class _Dtype(TypedDict, total=False):
    dtype: str


class _Weights(_Dtype, total=False):
    weights: str


class _Cache(_Dtype, total=False):
    kv: str


class VerifyOptions(TypedDict, total=False):
    """What the verdict on a checkpoint depends on."""

    checkpoint: str | Checkpoint


class _Held(_Weights, _Cache, VerifyOptions, total=False):
    mtp: bool


class _Gpus(_Ctx, _Held, total=False):
    tp: Size
    pp: Size
    dp: Size
    dcp: Size
    ep: bool
    stages: str
    engine: EngineName
    block_size: Size
    max_batched_tokens: Size
    ubatch: Size


class FlopsOptions(_Ctx, _Seen, _Batch, _Pass, total=False):
    """What FLOPs depend on."""

    phase: Phase
    macs: bool


class KvcacheOptions(_Ctx, _Seen, _Batch, _Cache, total=False):
    """What a cache depends on."""


class WeightsOptions(_Weights, VerifyOptions, total=False):
    """What the bytes of weights depend on."""

    mtp: bool


class IntensityOptions(_Ctx, _Batch, _Prompt, _Pass, _Weights, _Cache, VerifyOptions, total=False):
    """What intensities depend on."""


class ConcurrencyOptions(_Ctx, _Weights, _Cache, VerifyOptions, total=False):
    """What caches against weights depend on."""


class GenerationOptions(_Prompt, total=False):
    """What generation depends on."""

    new: Size
    source: Size
    mla: Mla


class MemoryOptions(_Gpus, _Seen, _Batch, total=False):
    """What the memory of GPUs depends on."""

    step_tokens: Size


class FitOptions(_Gpus, total=False):
    """What fits depends on."""

    requests: Size
    device: str | Device
    count: Size
    kv_memory: Decimal
    utilisation: Decimal
    overhead: Decimal


class TrainOptions(_Ctx, total=False):
    """What a training run depends on."""

    micro_batch: Size
    microbatches: Size
    dp: Size
    scores: Scores
    mla: Mla
    attention: Kernel
    recompute: Recompute
    lora: str
    flops_as: Convention
    train_tokens: Size
    gpus: Size
    device: str | Device
    compute: Precision
    mfu: Decimal
    throughput: Decimal
    days: Decimal


class TrainmemOptions(TypedDict, total=False):
    """What the memory of training depends on."""

    ctx: Size
    micro_batch: Size
    attention: Kernel
    recompute: Recompute
    recipe: Recipe
    dropout: Decimal
    logits_fp32: bool
    norms: Norms
    inventory: Inventory


class _OnDevice(_Ctx, _Batch, _Weights, _Cache, VerifyOptions, total=False):
    device: str | Device
    count: Size
    tp: Size
    pp: Size
    dp: Size
    ep: bool
    stages: str


class RooflineOptions(_OnDevice, _Prompt, _Pass, total=False):
    """What times depend on."""

    compute: Precision
    link: str
    efficiency: Decimal
    mfu: Decimal
    mbu: Decimal
    price: Decimal


class RegimesOptions(_Batch, _Weights, _Cache, VerifyOptions, total=False):
    """What regimes depend on."""

    phase: Phase
    scores: Scores
    source: Size
    mla: Mla


class Options(
    FlopsOptions,
    IntensityOptions,
    GenerationOptions,
    MemoryOptions,
    FitOptions,
    RooflineOptions,
    RegimesOptions,
    TrainOptions,
    TrainmemOptions,
    total=False,
):
    """What any figure depends on."""


def documented(options: Iterable[str]) -> Callable[[Function], Function]:
    """Adds the meanings of options, and what they may be, to what a function says of itself."""

    def add(function: Function) -> Function:
        listed = [
            fill(_described(name), 92, initial_indent=" " * 8, subsequent_indent=" " * 12)
            for name in options
        ]
        text = (function.__doc__ or "").rstrip()
        function.__doc__ = "\n".join([text, "", "    Options:", *listed, "    "])
        return function

    return add


def _described(name: str) -> str:
    hint = _HINTS[name]
    choices = [word for inner in (hint, *get_args(hint)) for word in get_args(inner)]
    text, default, rest = meaning(name).partition("; default")
    listed = ", ".join(word for word in choices if isinstance(word, str))
    return f"{name}: {text}{f' ({listed})' if listed else ''}{default}{rest}"
