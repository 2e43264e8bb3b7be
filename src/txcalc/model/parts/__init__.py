"""Kinds of sub-layers, one file each: weights, products without a weight, state.

The unions here are closed: a new kind is a new file and one more member.
"""

from txcalc.model.parts.altup import AltUp
from txcalc.model.parts.attention import GroupedQuery, MultiHead
from txcalc.model.parts.cca import CompressedConvolutional
from txcalc.model.parts.compressed import Compressed
from txcalc.model.parts.conv import ShortConv
from txcalc.model.parts.delta import GatedDelta
from txcalc.model.parts.ffn import Gated, Mixture, Plain
from txcalc.model.parts.hyper import HyperConnections
from txcalc.model.parts.kda import KimiDelta
from txcalc.model.parts.linear_attention import Lightning, Mlstm
from txcalc.model.parts.mamba import Mamba1, Mamba2
from txcalc.model.parts.mla import Latent
from txcalc.model.parts.moa import MixtureOfAttention
from txcalc.model.parts.positions import (
    Alibi,
    Learned,
    Relative,
    Rotary,
    Sinusoidal,
    Unmarked,
)
from txcalc.model.parts.rg_lru import RgLru
from txcalc.model.parts.rwkv import ChannelMixing, TimeMixing

CrossAttention = MultiHead | GroupedQuery
Attention = CrossAttention | Latent | Compressed | MixtureOfAttention | CompressedConvolutional
Ssm = Mamba1 | Mamba2 | GatedDelta | KimiDelta | ShortConv | Lightning | Mlstm | RgLru | TimeMixing
Ffn = Plain | Gated | Mixture | ChannelMixing
Positions = Learned | Relative | Sinusoidal | Rotary | Alibi | Unmarked
Residual = HyperConnections | AltUp
