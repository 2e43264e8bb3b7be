"""The mixes of GGUF files: which block type llama.cpp's quantisation gives to which tensor.

https://github.com/ggml-org/llama.cpp: llama_tensor_get_type in src/llama-quant.cpp (in llama.cpp
before 2024-09), without an importance matrix; vectors and routers as its converters write them.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.errors import OptionError, RefusedError, nearest
from txcalc.workload.formats import NUMBERS, Format
from txcalc.workload.gguf import BLOCKS

Tensor = Literal["token_embd", "output", "attn_v", "attn_k", "attn_output", "ffn_down", "other"]
"""What the rules distinguish; all other matrices are in the mix's own type."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What has changed between releases.

    A table tied to the head is held ``tied_as_output``.  The first layers that are raised are a
    share of the depth, or ``counted``.  Experts' down projections are raised (``raises_experts``),
    and outputs of attention beside 8 experts.  Rows of no whole block of 256 fall back, of q3_k to
    ``q3_k``; of no whole block of 32 to fp16, or the file is not made.
    """

    tied_as_output: bool = True
    counted: bool = False
    raises_experts: bool = True
    q3_k: str = "q4_0"
    falls_to_fp16: bool = True
    router: str = "fp32"


_OF_2024 = Rules(q3_k="iq4_nl")
_EARLY = Rules(tied_as_output=False, q3_k="q4_1", falls_to_fp16=False, router="fp16")
_FIRST = msgspec.structs.replace(_EARLY, counted=True, raises_experts=False)
RELEASES: dict[str, Rules] = {
    "v0.5.0": Rules(),
    "b6673": _OF_2024,
    "b3889": _OF_2024,
    "b3658": _OF_2024,
    "b2074": _EARLY,
    "b1892": _EARLY,
    "b1660": _FIRST,
}
"""Releases by their tags, newest first."""
DEFAULT = next(iter(RELEASES))

BASES = {
    "Q4_0": "q4_0", "Q8_0": "q8_0", "Q3_K_S": "q3_k", "Q3_K_M": "q3_k", "Q3_K_L": "q3_k",
    "Q4_K_S": "q4_k", "Q4_K_M": "q4_k", "Q5_K_S": "q5_k", "Q5_K_M": "q5_k", "Q6_K": "q6_k",
}  # fmt: skip
"""The mixes, each with the type that most of its tensors have."""
_WITH_256 = {"q3_k", "q4_k", "q5_k", "q6_k"}
_FALLBACKS = {"q4_k": "q5_0", "q5_k": "q5_1", "q6_k": "q8_0"}


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules read of a model; ``n_experts`` is 0 without a mixture.

    What llama.cpp calls the 70B model has 80 layers and fewer KV heads than query heads.
    """

    n_layers: int
    n_experts: int
    grouped: bool
    tied: bool

    @property
    def is_70b(self) -> bool:
        """Whether its values are raised as those of the 70B model."""
        return self.n_layers == 80 and self.grouped


class Mix(msgspec.Struct, frozen=True):
    """A mix by the rules of one release."""

    name: str
    release: str = DEFAULT

    @property
    def rules(self) -> Rules:
        """The rules of its release."""
        return RELEASES[self.release]

    @property
    def base(self) -> str:
        """The type that most of its tensors have."""
        return BASES[self.name]

    @property
    def router(self) -> Format:
        """The format of what is never quantised although it is a matrix."""
        return NUMBERS[self.rules.router]

    def format(self, tensor: Tensor, layer: int, columns: int, model: Shape) -> Format:
        """The format of a matrix with rows of ``columns`` elements, in the layer of that index.

        Raises:
            RefusedError: rows that llama.cpp makes no file of.
        """
        name = self.type(tensor, layer, model)
        if name in _WITH_256 and columns % 256:
            name = self.rules.q3_k if name == "q3_k" else _FALLBACKS[name]
            if columns % 32 and self.rules.falls_to_fp16:
                return NUMBERS["fp16"]
        if columns % 32:
            raise RefusedError(
                f"no {self.name}: rows of {columns} elements are no whole blocks of 32"
            )
        return BLOCKS[name]

    def type(self, tensor: Tensor, layer: int, model: Shape) -> str:
        """The type of a tensor by the rules, whatever its rows."""
        match tensor:
            case "output":
                return self._output
            case "token_embd":
                as_output = model.tied and self.rules.tied_as_output
                return self._output if as_output else self.base
            case "attn_v":
                return self._values(layer, model)
            case "attn_k":
                return "q8_0" if model.n_experts == 8 else self.base
            case "attn_output":
                return self._attention_output(model)
            case "ffn_down":
                return self._down(layer, model)
            case "other":
                return self.base

    @property
    def _output(self) -> str:
        return "q8_0" if self.base == "q8_0" else "q6_k"

    def _values(self, layer: int, model: Shape) -> str:
        if model.n_experts == 8:
            return "q8_0"
        type_ = self.base
        match self.name:
            case "Q3_K_M":
                type_ = "q5_k" if layer < 2 else "q4_k"
            case "Q3_K_L":
                type_ = "q5_k"
            case "Q4_K_S" if layer < 4:
                type_ = "q5_k"
            case "Q4_K_M" | "Q5_K_M" if _has_more_bits(layer, model.n_layers):
                type_ = "q6_k"
        return "q5_k" if model.is_70b and type_ in ("q3_k", "q4_k") else type_

    def _attention_output(self, model: Shape) -> str:
        if model.n_experts == 8 and self.rules.raises_experts:
            raised = self.name in ("Q3_K_S", "Q3_K_M", "Q4_K_S", "Q4_K_M")
            return "q5_k" if raised else self.base
        return {"Q3_K_M": "q4_k", "Q3_K_L": "q5_k"}.get(self.name, self.base)

    def _down(self, layer: int, model: Shape) -> str:
        n = model.n_layers
        if model.n_experts and not self.rules.raises_experts:
            return self.base
        match self.name:
            case "Q3_K_M":
                return "q5_k" if layer < (2 if self.rules.counted else n // 16) else "q4_k"
            case "Q3_K_L":
                return "q5_k"
            case "Q4_K_S" if layer < (4 if self.rules.counted else n // 8):
                return "q5_k"
            case "Q4_K_M" | "Q5_K_M" if _has_more_bits(layer, n):
                return "q6_k"
            case _:
                return self.base


def mix(name: str) -> Mix | None:
    """A mix by its name, with the release after an @; None where the name is no mix's.

    Raises:
        OptionError: a release whose rules are not known.
    """
    name, is_given, release = name.partition("@")
    if name not in BASES:
        return None
    if is_given and release not in RELEASES:
        hint = nearest(release, list(RELEASES))
        raise OptionError(f"the rules of llama.cpp {release!r} are not known{hint}")
    return Mix(name, release) if is_given else Mix(name)


def _has_more_bits(layer: int, n_layers: int) -> bool:
    """The first and the last eighth of the layers, and every third between them."""
    eighth = n_layers // 8
    return layer < eighth or layer >= 7 * n_layers // 8 or (layer - eighth) % 3 == 2
