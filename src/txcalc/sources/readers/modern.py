"""Today's dense decoder: rotary positions, RMSNorm, grouped-query attention, a gated FFN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers, windowed
from txcalc.sources.readers.parts import attention, glu
from txcalc.sources.readers.trees import given


def modern(
    c: Config,
    *,
    norm: str = "rms",
    placement: str | None = None,
    ffn: Tree | None = None,
    window: int | None = None,
    slides: Callable[[int], bool] | None = None,
    tied: bool = False,
    head_bias: bool = False,
    tensors: Tree | None = None,
    layers: Sequence[str] = (),
    **attend: Any,
) -> Tree:
    """Llama's decoder (arXiv:2302.13971) with a family's differences from it.

    ``ffn`` is by default gated and without biases; ``window`` the window of every layer, or of
    those that ``layer_types`` or else the rule ``slides`` gives one; ``tied`` the type's default;
    ``tensors`` what each layer has besides; ``layers`` the type's names of their number; ``attend``
    the differences of :func:`~txcalc.sources.readers.parts.attention`, its biases among them.
    """

    def block(keys: int | None) -> Tree:
        part = attention(c, window=keys, **attend)
        fields = given(placement=placement, tensors=tensors)
        return {"norm": norm, "attention": part, "ffn": ffn or glu(c)} | fields

    if slides is not None:
        return windowed(c, block, slides, window=window, tied=tied, final_norm=norm)
    return decoder(
        c, {"decoder": block(window)}, n_layers(c, *layers),
        tied=tied, final_norm=norm, head_bias=head_bias,
    )  # fmt: skip
