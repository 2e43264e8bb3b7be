"""Options by name, as a caller or a document gives them, to a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from txcalc.accounts import registry
from txcalc.errors import OptionError, nearest
from txcalc.exact.quantity import LARGEST
from txcalc.validation import fault
from txcalc.workload.amount import whole_amount
from txcalc.workload.formats import NUMBERS
from txcalc.workload.question import LETTERS, MEANINGS, PROMPT, Question, positive

_DEFAULT = Question()

KNOWN = tuple(n for n in Question.__struct_fields__ if n in LETTERS or n not in MEANINGS)
"""The options that figures depend on."""

AMOUNTS = ("train_tokens",)
"""Options whose whole numbers are written as budgets are: ``26B``."""

_MEANING = {
    "ctx": "context in tokens; default: the model's own",
    "source": "the encoder's length in tokens; default: what inputs are padded to, else ctx",
    "image": "images of each sequence, HxW[,HxW...] in pixels; their tokens come on top of ctx",
    "audio": "seconds of sound of each sequence; its tokens come on top of ctx",
    "batch": "sequences at once",
    "prompt": f"prompt; default: ctx, {PROMPT} for generation",
    "new": "tokens to generate",
    "tokens": "tokens of each sequence",
    "phase": "what is run",
    "scores": "which attention products count",
    "logits": "positions whose logits are computed",
    "macs": "multiply-adds instead of FLOPs",
    "mla": "form of latent attention; default: absorbed in decode, else expanded",
    "dtype": f"number format: {', '.join(NUMBERS)}",
    "weights": "format of the weights, or a scheme as fp8-channel; default: dtype",
    "kv": "format of the cache; default: dtype",
    "mtp": "multi-token-prediction modules too",
    "tp": "GPUs that divide heads and widths",
    "pp": "stages that divide the layers",
    "dp": "groups with requests of their own",
    "dcp": "GPUs that divide a cache by tokens",
    "ep": "whole experts on GPUs, not slices of each",
    "stages": "layers of each stage; default: as equal as possible",
    "engine": "whose rules of allocation count",
    "block_size": "tokens of a block of an engine's cache",
    "max_batched_tokens": "tokens of a step at most",
    "ubatch": "tokens that llama.cpp computes at once",
    "step_tokens": "tokens of a step; default: batch",
    "device": "an accelerator by its name or a YAML file",
    "count": "GPUs; alone they divide heads and widths, as tp does",
    "requests": "requests at once",
    "kv_memory": "GiB of each GPU for the cache",
    "utilisation": "share of a device's memory that is used; default: 1, vllm 0.9",
    "overhead": "GiB that an engine takes beside",
    "checkpoint": "a weights file, a folder or index of such files, or hf:org/name",
    "micro_batch": "sequences of a micro-batch",
    "microbatches": "micro-batches of a step",
    "train_tokens": "tokens of a training run, as 26B",
    "gpus": "GPUs that train",
    "compute": "format that products run in",
    "mfu": "share of the peak that is reached",
    "throughput": "tokens a second and GPU",
    "days": "days of a training run",
    "attention": "attention that keeps its scores, or makes them again",
    "recompute": "what the backward pass runs again",
    "lora": "adapters: their rank and what they stand on; default targets: q,v",
    "flops_as": "whose count of FLOPs",
    "recipe": "formats of weights and products",
    "dropout": "share of elements that is dropped",
    "logits_fp32": "logits cast to fp32 before the loss",
    "norms": "kernels of norms",
    "inventory": "what is kept: all, or no statistics of norms",
    "link": "a device's link between GPUs by name; default: its fastest",
    "efficiency": "share of peak and bandwidth that is reached; default: 1",
    "mbu": "share of the bandwidth that is reached; default: 1",
    "price": "US dollars of a GPU hour",
}


def meaning(name: str) -> str:
    """What an option of a question means, and its default."""
    default = getattr(_DEFAULT, name)
    return _MEANING[name] + (f"; default: {default}" if default not in (None, False, "") else "")


def question(options: Mapping[str, object], beside: Iterable[str] = ()) -> Question:
    """The question that options make; ``beside`` are names that may stand among them elsewhere.

    A number may be written as :func:`txcalc.report.sizes.whole` reads it.

    Raises:
        OptionError: a name that is not known, or a value of another type.
    """
    for name in options:
        if name not in KNOWN:
            raise OptionError(f"no option {name!r}{nearest(name, [*KNOWN, *beside])}")
    try:
        return msgspec.convert({n: _sized(n, value) for n, value in options.items()}, Question)
    except UnicodeEncodeError:
        raise OptionError("options: characters that no text can hold stand in them") from None
    except msgspec.ValidationError as error:
        name, problem = fault(error, Question)
        raise OptionError(
            f"option {name}={options[name]}: {problem.partition(', not ')[0]}"
        ) from None


def question_for(
    options: Mapping[str, object], addresses: Iterable[str], *, prefix: str = "--"
) -> Question:
    """The question that options make for some addresses; ``prefix`` is written before a name.

    Raises:
        OptionError: what :func:`question` refuses, or an option that no account of them reads.
        AddressError: no account begins like one of them.
    """
    made = question(options)
    registry.refuse_unread(options, addresses, prefix)
    return made


def typed(value: object) -> object:
    """A word as the truth value that it spells; all else as it is."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _sized(name: str, value: object) -> object:
    """The number that a text writes where a number is asked for, and the other way round."""
    hint = Question.__annotations__[name]
    if hint.startswith("str") and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if hint.startswith("int") and isinstance(value, int) and not -LARGEST <= value <= LARGEST:
        positive(name, value)
    if not isinstance(value, str) or not hint.startswith("int"):
        return value
    if name in AMOUNTS:
        return whole_amount(name, value)
    from txcalc.report.sizes import whole

    try:
        return whole(value)
    except OptionError as error:
        raise OptionError(f"option {name}: {error}") from None
