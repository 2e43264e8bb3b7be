"""The options of a question, and its letters."""

from __future__ import annotations

import re
from fractions import Fraction

import msgspec

from txcalc.errors import OptionError
from txcalc.exact.quantity import LARGEST, Letter, Number, exact
from txcalc.workload.amount import amount
from txcalc.workload.checkpoint import Checkpoint
from txcalc.workload.chosen import Chosen, chosen_cache, chosen_weights
from txcalc.workload.device import Device, Precision
from txcalc.workload.engine import Engine, EngineName, engine
from txcalc.workload.formats import size
from txcalc.workload.layout import Layout, layout
from txcalc.workload.passes import Logits, Mla, Phase, Scores
from txcalc.workload.training import (
    Convention,
    Inventory,
    Kernel,
    Lora,
    Norms,
    Recipe,
    Recompute,
    lora,
)

PROMPT = 20
"""Tokens of a prompt that generation begins with where none is given."""

MEANINGS = {
    "ctx": "context in tokens",
    "source": "the encoder's length in tokens",
    "batch": "sequences at once",
    "prompt": "prompt in tokens",
    "new": "tokens generated",
    "tokens": "tokens of each sequence",
    "requests": "requests at once",
    "step_tokens": "tokens of a step",
    "micro_batch": "sequences of a micro-batch",
    "microbatches": "micro-batches of a step",
    "train_tokens": "tokens of a training run",
    "gpus": "GPUs that train",
}
"""The letters of a question."""
LETTERS = tuple(name for name in MEANINGS if name != "tokens")
"""Those that figures depend on; ``tokens`` is of shapes alone."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a model; None stands for the model's own or the account's default."""

    ctx: int | None = None
    source: int | None = None
    image: str | None = None
    audio: str | None = None
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
    mtp: bool = False
    tp: int = 1
    pp: int = 1
    dp: int = 1
    dcp: int = 1
    ep: bool = False
    stages: str = ""
    engine: EngineName = "none"
    block_size: int = 16
    max_batched_tokens: int = 8192
    ubatch: int = 512
    step_tokens: int | None = None
    device: Device | None = None
    count: int | None = None
    requests: int = 1
    kv_memory: str | None = None
    utilisation: str | None = None
    overhead: str = "0"
    checkpoint: Checkpoint | None = None
    micro_batch: int = 1
    microbatches: int = 1
    train_tokens: int | None = None
    gpus: int | None = None
    compute: Precision | None = None
    mfu: str | None = None
    throughput: str | None = None
    days: str | None = None
    attention: Kernel = "eager"
    recompute: Recompute = "none"
    lora: str | None = None
    flops_as: Convention = "exact"
    recipe: Recipe = "bf16"
    dropout: str = "0"
    logits_fp32: bool = False
    norms: Norms = "fused"
    inventory: Inventory = "torch"
    link: str | None = None
    efficiency: str | None = None
    mbu: str | None = None
    price: str | None = None

    def __post_init__(self) -> None:
        """Rejects values that are invalid for every figure.

        Raises:
            OptionError: a length or a batch that is not positive, or an unknown number format.
        """
        for name in MEANINGS:
            if (value := getattr(self, name)) is not None:
                positive(name, value)
        size(self.dtype, "", "elements")
        chosen_weights(self.weights, self.dtype)
        chosen_cache(self.kv, self.dtype)
        _ = self.layout, self.serving, self.utilised  # each refuses what it cannot use
        _ = self.images, self.seconds
        _decimal("kv-memory", self.kv_memory)
        _decimal("overhead", self.overhead)
        _ = self.adapters, self.trained, self.drops
        _decimal("price", self.price)
        _ = self.usd_per_second

    @property
    def images(self) -> tuple[tuple[int, int], ...]:
        """Height and width of each image of a sequence, in pixels."""
        texts = [] if self.image is None else self.image.split(",")
        return tuple(_sides(text.strip()) for text in texts)

    @property
    def seconds(self) -> Fraction | None:
        """The length of the sound of a sequence."""
        seconds = _decimal("audio", self.audio)
        if seconds is not None and not seconds:
            raise OptionError("--audio 0: a length above 0 seconds is needed")
        return seconds

    def weight_formats(self, stored: str | None = None) -> Chosen:
        """The formats of the weights of a model that is ``stored`` so."""
        return chosen_weights(self.weights, self.dtype, stored)

    @property
    def cache_formats(self) -> Chosen:
        """The formats of the cache: of rows of state, and of the rest."""
        return chosen_cache(self.kv, self.dtype)

    @property
    def layout(self) -> Layout:
        """How GPUs divide the model."""
        return layout(
            tp=self.tp, pp=self.pp, dp=self.dp, dcp=self.dcp, ep=self.ep, stages=self.stages,
            multiple=self.serving.multiple,
        )  # fmt: skip

    @property
    def serving(self) -> Engine:
        """The engine that serves it."""
        return engine(
            self.engine,
            block=self.block_size,
            batched=self.max_batched_tokens,
            ubatch=self.ubatch,
        )

    @property
    def utilised(self) -> Fraction:
        """The share of a device's memory that is used: vLLM's default is 0.9, else all of it."""
        default = Fraction(9, 10) if self.engine == "vllm" else Fraction(1)
        return default if self.utilisation is None else _share("utilisation", self.utilisation)

    @property
    def reached(self) -> tuple[Fraction, Fraction]:
        """The shares of a device's peak and of its bandwidth that are reached; by default all."""
        if self.efficiency is not None and (self.mfu or self.mbu) is not None:
            raise OptionError("--efficiency is of both bounds: give it, or --mfu and --mbu")
        mfu, mbu = self.mfu or self.efficiency, self.mbu or self.efficiency
        names = ("mfu", "mbu") if self.efficiency is None else ("efficiency", "efficiency")
        compute, memory = (
            Fraction(1) if text is None else _share(name, text)
            for name, text in zip(names, (mfu, mbu), strict=True)
        )
        return compute, memory

    @property
    def usd_per_second(self) -> Letter | None:
        """What a GPU costs, where it is said."""
        price = _decimal("price", self.price)
        if price is None:
            return None
        if not price:
            raise OptionError(f"--price {self.price}: US dollars of a GPU hour, above 0")
        about = "US dollars of a GPU second"
        return Letter(exact(price / 3600), "price", unit="USD/second", about=about)

    @property
    def adapters(self) -> Lora | None:
        """The adapters that are trained, where the model is frozen."""
        return lora(self.lora)

    @property
    def drops(self) -> bool:
        """Whether training drops elements by chance."""
        share = _decimal("dropout", self.dropout)
        if share is None or share >= 1:
            raise OptionError(f"--dropout {self.dropout}: a share below 1 is needed")
        return bool(share)

    @property
    def trained(self) -> dict[str, Fraction]:
        """What is said of a run's speed: ``mfu``, ``throughput`` (tokens/s a GPU) and ``days``."""
        given = {
            name: amount(name, text)
            for name, text in (("throughput", self.throughput), ("days", self.days))
            if text is not None
        }
        if self.mfu is not None:
            given["mfu"] = _share("mfu", self.mfu)
        return given

    @property
    def kv_bytes(self) -> Letter:
        """Bytes of one element of the cache that stays a flat number."""
        return size(self.cache_formats.number or self.dtype, "kv_bytes", "elements")

    @property
    def activation_bytes(self) -> Letter:
        """Bytes of one element between two products."""
        return size(self.dtype, "activation_bytes", "elements")


def _sides(text: str) -> tuple[int, int]:
    """Height and width of an image, as 480x640."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", text, re.ASCII)
    if found is None:
        raise OptionError(f"--image {text}: height and width in pixels are needed, as 480x640")
    return int(found[1]), int(found[2])


def _decimal(option: str, text: str | None) -> Fraction | None:
    """A number in plain decimals, exactly."""
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", text, re.ASCII):
        raise OptionError(
            f"--{option} {text}: a number in plain decimals is needed, as 0.9 or 12.5"
        )
    return Fraction(text)


def _share(option: str, text: str) -> Fraction:
    """A share of a whole, more than nothing."""
    share = _decimal(option, text)
    assert share is not None
    if not 0 < share <= 1:
        raise OptionError(f"--{option} {text}: a share above 0, at most 1")
    return share


def positive(name: str, value: object) -> Letter:
    """A letter of the question.

    Raises:
        OptionError: no whole number, or one below 1 or above 10^15.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LARGEST:
        is_long = isinstance(value, int) and value.bit_length() > LARGEST.bit_length() * 4
        shown = "is out of range" if is_long else value
        raise OptionError(f"--{name} {shown}: a whole number from 1 to 10^15 is needed")
    return letter(name, value)


def letter(name: str, value: Number) -> Letter:
    """A letter of the question, with its meaning."""
    return Letter(value, name, about=MEANINGS[name])
