"""Kinds of sub-layers, one file each: weights, products without a weight, state.

The unions here are closed: a new kind is a new file and one more member.
"""

from txcalc.parts.attention import GroupedQuery, MultiHead
from txcalc.parts.conv import ShortConv
from txcalc.parts.delta import GatedDelta
from txcalc.parts.ffn import Gated, Mixture, Plain
from txcalc.parts.mamba import Mamba1, Mamba2
from txcalc.parts.mla import Latent
from txcalc.parts.positions import Alibi, Learned, Relative, Rotary, Sinusoidal

Attention = MultiHead | GroupedQuery | Latent
Ssm = Mamba1 | Mamba2 | GatedDelta | ShortConv
Ffn = Plain | Gated | Mixture
Positions = Learned | Relative | Sinusoidal | Rotary | Alibi
