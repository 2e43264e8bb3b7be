"""GGUF's block types: blocks of 32 or more elements of one row, each with its scales."""

from __future__ import annotations

from txcalc.workload.formats import Format, Piece

_SOURCE = "https://github.com/ggml-org/llama.cpp, ggml/src/ggml-common.h"

BLOCKS: dict[str, Format] = {
    name: Format(name, (Piece(bytes_, 1, elements),), _SOURCE)
    for name, elements, bytes_ in (
        ("q1_0", 128, 18),
        ("q4_0", 32, 18),
        ("q4_1", 32, 20),
        ("iq4_nl", 32, 18),
        ("q5_0", 32, 22),
        ("q5_1", 32, 24),
        ("q8_0", 32, 34),
        ("q2_k", 256, 84),
        ("q3_k", 256, 110),
        ("q4_k", 256, 144),
        ("q5_k", 256, 176),
        ("q6_k", 256, 210),
    )
}
