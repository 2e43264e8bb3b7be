"""GGUF's block types: blocks of 32 or more elements of one row, each with its scales."""

from __future__ import annotations

from txcalc.workload.formats import Format, Piece

_SOURCE = "https://github.com/ggml-org/llama.cpp, ggml/src/ggml-common.h"


def _blocks(*types: tuple[str, int, int]) -> dict[str, Format]:
    """Types by name, each with the elements and the bytes of a block."""
    return {name: Format(name, (Piece(bytes_, 1, n),), _SOURCE) for name, n, bytes_ in types}


BLOCKS = _blocks(
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
"""Those that a question may choose."""
_ONLY_IN_FILES = _blocks(
    ("f32", 1, 4),
    ("f16", 1, 2),
    ("bf16", 1, 2),
    ("f64", 1, 8),
    ("i8", 1, 1),
    ("i16", 1, 2),
    ("i32", 1, 4),
    ("i64", 1, 8),
    ("q8_1", 32, 40),
    ("q8_k", 256, 292),
    ("iq1_s", 256, 50),
    ("iq1_m", 256, 56),
    ("iq2_xxs", 256, 66),
    ("iq2_xs", 256, 74),
    ("iq2_s", 256, 82),
    ("iq3_xxs", 256, 98),
    ("iq3_s", 256, 110),
    ("iq4_xs", 256, 136),
    ("tq1_0", 256, 54),
    ("tq2_0", 256, 66),
    ("mxfp4", 32, 17),
    ("nvfp4", 64, 36),
)
FILE_TYPES: dict[int, Format] = {
    number: (BLOCKS | _ONLY_IN_FILES)[name]
    for number, name in (
        (0, "f32"), (1, "f16"), (2, "q4_0"), (3, "q4_1"), (6, "q5_0"), (7, "q5_1"), (8, "q8_0"),
        (9, "q8_1"), (10, "q2_k"), (11, "q3_k"), (12, "q4_k"), (13, "q5_k"), (14, "q6_k"),
        (15, "q8_k"), (16, "iq2_xxs"), (17, "iq2_xs"), (18, "iq3_xxs"), (19, "iq1_s"),
        (20, "iq4_nl"), (21, "iq3_s"), (22, "iq2_s"), (23, "iq4_xs"), (24, "i8"), (25, "i16"),
        (26, "i32"), (27, "i64"), (28, "f64"), (29, "iq1_m"), (30, "bf16"), (34, "tq1_0"),
        (35, "tq2_0"), (39, "mxfp4"), (40, "nvfp4"), (41, "q1_0"),
    )
}  # fmt: skip
"""The types of tensors by their numbers in a file: ggml/include/ggml.h, enum ggml_type."""
