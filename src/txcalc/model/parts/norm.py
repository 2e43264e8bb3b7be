"""Norms: one weight a channel, and with LayerNorm a bias."""

from typing import Literal

from txcalc.exact.quantity import Quantity
from txcalc.model.rows import Weight

Norm = Literal["layer", "layer_no_bias", "rms", "none"]


def norm_weights(kind: Norm, name: str, *width: Quantity) -> list[Weight]:
    """The tensors of a norm over ``width`` channels (a product of dimensions).

    LayerNorm: arXiv:1607.06450; RMSNorm: arXiv:1910.07467.
    """
    weight = Weight(name=name, use="norm", outputs=width)
    match kind:
        case "none":
            return []
        case "layer":
            return [weight, Weight(name=f"{name}_bias", use="norm", outputs=width)]
        case "layer_no_bias" | "rms":
            return [weight]
