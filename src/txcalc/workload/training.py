"""How a model is trained: kernels of attention, what is computed again, and adapters."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.errors import OptionError
from txcalc.exact.quantity import Letter

Kernel = Literal["eager", "flash"]
"""Attention that keeps its scores, or that computes them again: arXiv:2205.14135."""
Recompute = Literal["none", "selective", "block", "full"]
"""What the backward pass runs again: nothing; the score products (arXiv:2205.05198); each block up
to its last saved tensor (torch.utils.checkpoint without reentry); or each block as a whole."""
Convention = Literal[
    "exact", "6n", "6n-non-embedding", "kaplan", "palm", "nanogpt", "torchtitan", "megatron",
    "megatron-2021", "foundry",
]  # fmt: skip
"""Whose count of a token's FLOPs stands: see :mod:`txcalc.accounts.training.conventions`."""

Recipe = Literal["bf16", "fp32", "autocast"]
"""Formats of weights and products: all bf16; all fp32; or fp32 with products cast to bf16."""
Inventory = Literal["torch", "megatron"]
"""What PyTorch keeps, or the same without statistics of norms, as arXiv:2205.05198 counts it."""
Norms = Literal["fused", "upcast"]
"""One kernel that keeps its input, or RMSNorm written out in fp32."""

LORA_TARGETS = ("q", "v")
"""The projections that are adapted where none are named: arXiv:2106.09685, section 5.1."""
_MOST = 10**6


class Lora(msgspec.Struct, frozen=True):
    """Adapters of low rank on some projections, arXiv:2106.09685; the weights below are frozen."""

    rank: Letter
    targets: tuple[str, ...]


def lora(text: str | None) -> Lora | None:
    """Adapters as ``RANK[:TARGET,...]`` writes them.

    Raises:
        OptionError: no rank, or a target that is named twice.
    """
    if text is None:
        return None
    rank, _, listed = text.partition(":")
    if not (rank.isascii() and rank.isdigit() and 0 < int(rank[:9]) <= _MOST):
        raise OptionError(f"--lora {text}: RANK[:TARGET,...] is needed, as 16 or 16:q,k,v,o")
    targets = tuple(listed.split(",")) if listed else LORA_TARGETS
    for target in targets:
        if targets.count(target) > 1:
            raise OptionError(f"--lora {text}: {target!r} is named twice")
    return Lora(Letter(int(rank), "rank", about="rank of the adapters"), targets)
