"""Schemes: which of a model's weights a checkpoint holds in which format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from txcalc.workload.formats import Format, Piece

Holds = Literal["blocks", "experts", "tables"]
"""The matmuls of blocks; those of routed experts alone; or those of blocks, head and tables."""


class Scheme(msgspec.Struct, frozen=True):
    """A format and the weights that it holds; all others stay flat numbers.

    Of the matmuls of blocks routers and gates of one row are excepted.
    """

    format: Format
    holds: Holds = "blocks"

    @property
    def name(self) -> str:
        """The scheme is called as its format."""
        return self.format.name


_BYTE = Piece(1)
_COMPRESSED = "https://github.com/vllm-project/compressed-tensors, compressors"
_BITSANDBYTES = "https://github.com/bitsandbytes-foundation/bitsandbytes"
_NF4 = f"arXiv:2305.14314; {_BITSANDBYTES}, functional.py (a state's text of about 80 B is not in)"


def _scheme(name: str, source: str, *pieces: Piece, holds: Holds = "blocks") -> tuple[str, Scheme]:
    return name, Scheme(Format(name, pieces, source), holds)


SCHEMES: dict[str, Scheme] = dict(
    (
        _scheme("fp8-channel", _COMPRESSED, _BYTE, Piece(4, 1, None)),
        _scheme("fp8-tensor", _COMPRESSED, _BYTE, Piece(4, None, None)),
        _scheme("fp8-128x128", "arXiv:2412.19437 section 3.3.2", _BYTE, Piece(4, 128, 128)),
        _scheme("int8-channel", _COMPRESSED, _BYTE, Piece(4, 1, None)),
        _scheme(
            "mxfp4",
            "OCP Microscaling Formats v1.0; arXiv:2508.10925 section 2.1",
            Piece(16, 1, 32),
            Piece(1, 1, 32),
            holds="experts",
        ),
        _scheme(  # codes, their scales, and the scales of the weight and of its input
            "nvfp4",
            "https://github.com/NVIDIA/Model-Optimizer, modelopt/torch/export",
            Piece(1, 1, 2),
            Piece(1, 1, 16),
            Piece(8, None, None),
        ),
        _scheme(  # codes, a scale a row, and a flag of the layout
            "bnb-int8",
            f"arXiv:2208.07339; {_BITSANDBYTES}, nn/modules.py",
            _BYTE,
            Piece(4, 1, None),
            Piece(1, None, None),
        ),
        _scheme(  # codes, a scale for each 64, and the table of 16 values
            "bnb-nf4",
            _NF4,
            Piece(1, 1, 2, flat=True),
            Piece(4, 1, 64, flat=True),
            Piece(64, None, None),
        ),
        _scheme(  # the scales are codes too, with a scale for each 256 and a table of 256 values
            "bnb-nf4-dq",
            _NF4,
            Piece(1, 1, 2, flat=True),
            Piece(1, 1, 64, flat=True),
            Piece(4, 1, 64 * 256, flat=True),
            Piece(64 + 1024, None, None),
        ),
    )
)
"""The schemes without a group."""


def _gptq(name: str, group: int) -> Scheme:
    """8 codes of a column in 4 bytes, likewise zeros; 16-bit scales; the group of each input."""
    pieces = (Piece(4, 1, 8), Piece(4, 8, group), Piece(2, 1, group), Piece(4, None, 1))
    source = "arXiv:2210.17323; https://github.com/AutoGPTQ/AutoGPTQ, nn_modules/qlinear"
    return Scheme(Format(name, pieces, source))


def _awq(name: str, group: int) -> Scheme:
    """8 codes of a row in 4 bytes, likewise zeros; 16-bit scales."""
    pieces = (Piece(4, 8, 1), Piece(4, 8, group), Piece(2, 1, group))
    source = "arXiv:2306.00978; https://github.com/casper-hansen/AutoAWQ, modules/linear/gemm.py"
    return Scheme(Format(name, pieces, source))


def _int4(name: str, group: int) -> Scheme:
    """compressed-tensors' pack-quantized: 8 codes in 4 bytes, 16-bit scales, the shape in int64."""
    pieces = (Piece(4, 1, 8), Piece(2, 1, group), Piece(16, None, None))
    return Scheme(Format(name, pieces, f"{_COMPRESSED}/pack_quantized"))


def _mlx(name: str, group: int) -> Scheme:
    """8 codes in 4 bytes, a 16-bit scale and a 16-bit bias for each group."""
    pieces = (Piece(4, 1, 8), Piece(2, 1, group), Piece(2, 1, group))
    source = "https://github.com/ml-explore/mlx, python/mlx/nn/layers/quantized.py"
    return Scheme(Format(name, pieces, source), "tables")


GROUPED: dict[str, Callable[[str, int], Scheme]] = {
    "gptq-g": _gptq, "awq-g": _awq, "int4-g": _int4, "mlx-4-g": _mlx,
}  # fmt: skip
"""The schemes of 4 bits with a scale for each group of N inputs: gptq-g128."""

CACHE_ONLY: dict[str, Format] = {
    "fp8-128": Format(
        "fp8-128",
        (_BYTE, Piece(4, 1, 128)),
        "https://docs.vllm.ai, v1/attention/backends/mla/flashmla_sparse: 656 bytes a token",
    )
}
