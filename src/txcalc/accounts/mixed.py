"""A mix of block types over the layers of one model, as llama.cpp makes a GGUF file of it."""

from __future__ import annotations

from collections.abc import Iterator

from txcalc.accounts.tensors import is_matrix, sides
from txcalc.errors import RefusedError
from txcalc.model.model import Model, Row
from txcalc.model.parts.attention import MultiHead
from txcalc.model.parts.ffn import Mixture
from txcalc.model.rows import Weight
from txcalc.model.structure import Block, Stack
from txcalc.workload.formats import NUMBERS, Format
from txcalc.workload.mixes import Mix, Shape, Tensor

MOST_LAYERS = 512
"""LLAMA_MAX_LAYERS of llama.cpp."""
_TENSORS: dict[str, Tensor] = {
    "embedding.tokens": "token_embd", "head.output": "output",
    "attention.q": "other", "attention.k": "attn_k", "attention.v": "attn_v",
    "attention.o": "attn_output", "ffn.gate": "other", "ffn.up": "other", "ffn.down": "ffn_down",
    "ffn.shared_gate": "other", "ffn.shared_up": "other", "ffn.shared_down": "ffn_down",
}  # fmt: skip
"""The matrices of llama-like models, and what the rules call them."""
_NEEDED = ("attention.v", "ffn.gate", "ffn.down")
_VECTORS = ("norm", "bias", "buffer")


class Mixed:
    """The formats of the weights of a llama-like model in a mix: of all layers, or of a range.

    Raises:
        RefusedError: a model with what is outside of llama.cpp's rules for such models.
    """

    def __init__(self, model: Model, mix: Mix, layers: range | None = None) -> None:
        self._model, self._mix = model, mix
        stack = self._only_stack()
        shape = Shape(
            n_layers=int(stack.count.value),
            n_experts=max(_experts(block) for block in model.blocks.values()),
            grouped=any(_is_grouped(block) for block in model.blocks.values()),
            tied=model.head is not None and model.head.tied,
        )
        every = list(enumerate(stack.layers()))
        some = every if layers is None else every[layers.start : layers.stop]
        self._formats = {
            row.address: tuple(self._of_row(row, weight, some, shape))
            for row in model.text_rows
            if isinstance(weight := row.declared, Weight)
        }

    def formats(self, row: Row) -> tuple[Format, ...]:
        """The format of a row's weight, once or for each layer that has it."""
        formats = self._formats[row.address]
        return formats if len(set(formats)) > 1 else formats[:1]

    def _of_row(
        self, row: Row, weight: Weight, layers: list[tuple[int, str]], shape: Shape
    ) -> Iterator[Format]:
        if weight.role == "router" and is_matrix(weight):
            yield self._mix.router
        elif weight.use in _VECTORS or (weight.use == "matmul" and not is_matrix(weight)):
            yield NUMBERS["fp32"]
        else:
            name = row.name if row.layers else row.address
            if name not in _TENSORS:
                self._refuse(f"its {row.address} is outside of the rules for llama-like models")
            columns = int(sides(weight)[1].value)
            own = [i for i, block in layers if row.layers and block == row.layers.name]
            for i in own if row.layers else [0]:
                yield self._checked(_TENSORS[name], i, columns, shape)

    def _checked(self, tensor: Tensor, layer: int, columns: int, shape: Shape) -> Format:
        try:
            return self._mix.format(tensor, layer, columns, shape)
        except RefusedError as error:
            raise RefusedError(f"{self._model.name}: {error}") from None

    def _only_stack(self) -> Stack:
        """The decoder of a model that has nothing else."""
        model = self._model
        if list(model.stacks) != ["decoder"]:
            self._refuse("it has an encoder")
        if model.mtp is not None:
            self._refuse("files differ in whether they hold its modules: --set mtp=null")
        stack = model.stacks["decoder"]
        if stack.count.value > MOST_LAYERS:
            self._refuse(f"llama.cpp reads {MOST_LAYERS} layers at most")
        for kind in model.layers:
            if kind.block.shared or kind.block.loops is not None:
                self._refuse(f"layers of its block {kind.name!r} share or repeat weights")
            for name in _NEEDED:
                if name not in kind.weights:
                    self._refuse(f"its block {kind.name!r} has no {name}")
        return stack

    def _refuse(self, why: str) -> None:
        raise RefusedError(f"{self._model.name}: no GGUF mix {self._mix.name}: {why}")


def _experts(block: Block) -> int:
    return int(block.ffn.n_experts.value) if isinstance(block.ffn, Mixture) else 0


def _is_grouped(block: Block) -> bool:
    part = block.attention
    return isinstance(part, MultiHead) and part.kv_heads.value != part.n_heads.value
