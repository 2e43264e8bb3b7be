"""Kinds of sub-layers, one file each: weights, products without a weight, state.

The unions here are closed: a new kind is a new file and one more member.
"""

from txcalc.parts.attention import GroupedQuery, MultiHead
from txcalc.parts.cca import CompressedConvolutional
from txcalc.parts.compressed import Compressed
from txcalc.parts.conv import ShortConv
from txcalc.parts.delta import GatedDelta
from txcalc.parts.ffn import Gated, Mixture, Plain
from txcalc.parts.kda import KimiDelta
from txcalc.parts.linear_attention import Lightning, Mlstm
from txcalc.parts.mamba import Mamba1, Mamba2
from txcalc.parts.mla import Latent
from txcalc.parts.moa import MixtureOfAttention
from txcalc.parts.positions import Alibi, Learned, Relative, Rotary, Sinusoidal
from txcalc.parts.rg_lru import RgLru
from txcalc.parts.rwkv import ChannelMixing, TimeMixing

CrossAttention = MultiHead | GroupedQuery
Attention = CrossAttention | Latent | Compressed | MixtureOfAttention | CompressedConvolutional
Ssm = Mamba1 | Mamba2 | GatedDelta | KimiDelta | ShortConv | Lightning | Mlstm | RgLru | TimeMixing
Ffn = Plain | Gated | Mixture | ChannelMixing
Positions = Learned | Relative | Sinusoidal | Rotary | Alibi
