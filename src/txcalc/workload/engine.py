"""What serving engines allocate beyond the architecture: rules by name, each with its source."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.errors import OptionError
from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity, ceil_div, const, least, product
from txcalc.workload.reach import All, Kept, Window

EngineName = Literal["none", "vllm", "sglang", "llamacpp"]
PAD = const(256)
"""llama.cpp rounds the cells of a cache up to so many: src/llama-context.cpp, n_ctx padding."""

MEANINGS = {
    "block": "tokens of a block of the cache",
    "batched": "tokens that a step may run at most",
    "ubatch": "tokens that llama.cpp computes at once",
}

OPTIONS = {"block": "block-size", "batched": "max-batched-tokens", "ubatch": "ubatch"}
"""The options that set the letters."""


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """An engine and its sizes; ``none`` is the architecture's own bound.

    ``block``, ``batched`` and ``ubatch`` are letters in tokens.
    """

    name: EngineName
    block: Letter
    batched: Letter
    ubatch: Letter

    def kept(self, reach: Kept, tokens: Quantity) -> Quantity:
        """Tokens' worth of a state that the engine holds for a sequence of ``tokens``."""
        match self.name:
            case "none":
                return reach.kept(tokens)
            case "vllm" | "sglang":
                return self._blocks(reach, tokens)
            case "llamacpp":
                return self._cells(reach, tokens)

    @property
    def multiple(self) -> int:
        """What rows of token tables are padded to: vLLM's vocab_parallel_embedding.py."""
        return 64 if self.name == "vllm" else 1

    @property
    def spare(self) -> Quantity:
        """Tokens of a page beyond the pool, which SGLang writes padding to: memory_pool.py."""
        return self.block if self.name == "sglang" else ZERO

    @property
    def null_blocks(self) -> Quantity:
        """Blocks of the pool that no sequence gets: vLLM's block_pool.py holds one back."""
        return ONE if self.name == "vllm" else ZERO

    @property
    def tokens_on_host(self) -> bool:
        """Whether a token table that is no head stays in the host's memory (llama.cpp)."""
        return self.name == "llamacpp"

    @property
    def divides_windows(self) -> bool:
        """Whether GPUs divide a window by its tokens: vLLM's SlidingWindowSpec refuses to."""
        return self.name != "vllm"

    @property
    def has_tables(self) -> bool:
        """Whether cosines and sines of all positions are stored (vLLM rotary_embedding)."""
        return self.name == "vllm"

    def seen(self, window: Window, tokens: Quantity) -> Quantity:
        """Tokens of a window that a sequence of ``tokens`` holds while a step runs."""
        return least(tokens, window.size - ONE + self.batched)

    def _blocks(self, reach: Kept, tokens: Quantity) -> Quantity:
        """Whole blocks; a window has room for a step's tokens and one block more.

        vLLM v1 kv_cache_interface.py: SlidingWindowSpec.max_memory_usage_bytes.
        """
        if isinstance(reach, Window):
            seen = ceil_div(self.seen(reach, tokens), self.block)
            return product(self.block, seen + ONE)
        if isinstance(reach, All):
            return product(self.block, ceil_div(tokens, self.block))
        return reach.kept(tokens)

    def _cells(self, reach: Kept, tokens: Quantity) -> Quantity:
        """Cells rounded up to 256; a window has room for a ubatch beside it.

        llama.cpp src/llama-kv-cache-iswa.cpp: size_swa = pad(min(n_ctx, n_swa + n_ubatch), 256).
        """
        if not isinstance(reach, All | Window):
            return reach.kept(tokens)
        seen = least(tokens, reach.size + self.ubatch) if isinstance(reach, Window) else tokens
        return product(PAD, ceil_div(seen, PAD))


def engine(name: EngineName, *, block: int, batched: int, ubatch: int) -> Engine:
    """An engine with its sizes in tokens.

    Raises:
        OptionError: a size below 1.
    """
    sizes = {"block": block, "batched": batched, "ubatch": ubatch}
    for key, size in sizes.items():
        if size < 1:
            raise OptionError(f"--{OPTIONS[key]} {size}: a whole number from 1 on is needed")
    letters = {key: Letter(size, key, about=MEANINGS[key]) for key, size in sizes.items()}
    return Engine(
        name=name, block=letters["block"], batched=letters["batched"], ubatch=letters["ubatch"]
    )
