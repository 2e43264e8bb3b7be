"""How an image of any size becomes the pictures that a tower sees: one rule a family of processors.

A rule is arithmetic on whole numbers of pixels.  Each follows the published processor of its
family, floating point included where that rounds by it.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import msgspec

from txcalc.exact.quantity import LARGEST
from txcalc.model.canvases import best_canvas, limited, nearest_shape, scaled, shapes

Pixels = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
Some = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]


class Grid(NamedTuple):
    """So many pictures of so many rows and columns of patches."""

    pictures: int
    rows: int
    columns: int


class Cut(NamedTuple):
    """What a rule makes of one image.

    ``text`` is what the text model receives where that is not all that the projector makes,
    ``marks`` what a processor adds to it in the prompt.
    """

    grids: tuple[Grid, ...]
    marks: int = 0
    text: int | None = None
    prompt: int | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """A rule of sizes; pictures are given in patches of ``patch`` pixels, ``merge`` of them on a
    side becoming one token.
    """

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """The pictures of one image.

        Raises:
            ValueError: an image that the processor refuses.
        """
        raise NotImplementedError


class Whole(Rule, frozen=True, kw_only=True, tag="whole"):
    """The image as it is, cut down to whole patches."""

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """One picture."""
        if min(height, width) < patch:
            raise ValueError(f"{height}x{width} is smaller than a patch of {patch}x{patch} pixels")
        return Cut((Grid(1, height // patch, width // patch),))


class Fixed(Rule, frozen=True, kw_only=True, tag="fixed"):
    """Every image is resized to one size."""

    height: Pixels
    width: Pixels

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """One picture."""
        return Cut((Grid(1, self.height // patch, self.width // patch),))


class Area(Rule, frozen=True, kw_only=True, tag="area"):
    """Sides rounded to multiples of a token's, an area within limits: Qwen2-VL's smart_resize.

    Source: image_processing_qwen2_vl.py of transformers 5.24.0; arXiv:2409.12191 section 2.1.
    """

    min_pixels: Pixels
    max_pixels: Pixels
    narrowest: Pixels = 200
    """The largest ratio of the sides that is taken."""

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """One picture."""
        if max(height, width) > self.narrowest * min(height, width):
            raise ValueError(f"{height}x{width}: one side is over {self.narrowest} times the other")
        rows, columns = limited(
            height, width, patch * merge, self.min_pixels, self.max_pixels, least=0
        )
        return Cut((Grid(1, rows // patch, columns // patch),))


class Longest(Rule, frozen=True, kw_only=True, tag="longest"):
    """Only shrunk, until no side is longer; sides rounded up to tokens; a mark a row.

    Source: image_processing_pixtral.py of transformers 5.24.0; arXiv:2410.07073 section 2.
    """

    longest: Pixels

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """One picture."""
        ratio = max(height / self.longest, width / self.longest)
        if ratio > 1:
            height, width = math.floor(height / ratio), math.floor(width / ratio)
        side = patch * merge
        rows, columns = (max(0, size - 1) // side + 1 for size in (height, width))
        return Cut((Grid(1, rows * merge, columns * merge),), marks=rows)


class Shape(Rule, frozen=True, kw_only=True, tag="shape"):
    """Tiles in the shape nearest to the image's, and the whole image beside more than one.

    Source: image_processing_got_ocr2.py of transformers 5.24.0; arXiv:2404.16821 section 3.3.
    """

    tile: Pixels
    min_tiles: Pixels = 1
    max_tiles: Pixels
    marks: Some = 0
    tile_marks: Some = 0

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """As many pictures of one size."""
        columns, rows = nearest_shape(height, width, self.tile, self.min_tiles, self.max_tiles)
        n = rows * columns + (rows * columns > 1)
        side = self.tile // patch
        return Cut((Grid(n, side, side),), marks=self.marks + n * self.tile_marks)


class Cover(Rule, frozen=True, kw_only=True, tag="cover"):
    """Tiles in the shape that the image has to be scaled least for, and the whole image beside.

    Source: image_processing_cohere2_vision.py of transformers 5.24.0.
    """

    tile: Pixels
    max_tiles: Pixels
    marks: Some = 0
    tile_marks: Some = 0

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """As many pictures of one size."""
        scales = {
            shape: min(shape[0] * self.tile / width, shape[1] * self.tile / height)
            for shape in shapes(1, self.max_tiles)
        }
        wide = {shape: scale for shape, scale in scales.items() if scale >= 1}
        columns, rows = min(wide, key=wide.__getitem__) if wide else max(
            scales, key=scales.__getitem__
        )  # fmt: skip
        n = rows * columns + (rows * columns > 1)
        side = self.tile // patch
        return Cut((Grid(n, side, side),), marks=self.marks + n * self.tile_marks)


class Anyres(Rule, frozen=True, kw_only=True, tag="anyres"):
    """The whole image, and tiles of the canvas that holds most of it; a mark a row, no padding.

    Beyond ``most`` tiles' worth of tokens the canvas is shrunk.  Source: processing_llava_next.py
    and processing_llava_onevision.py of transformers 5.24.0; arXiv:2408.03326 section 3.2.
    """

    tile: Pixels
    canvases: Annotated[list[tuple[Pixels, Pixels]], msgspec.Meta(min_length=1)]
    most: Pixels | None = None

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """As many pictures of one size, of which the text model receives a part."""
        tall, wide = best_canvas(height, width, self.canvases)
        side = self.tile // patch
        rows, columns = side * (tall // self.tile), side * (wide // self.tile)
        n = 1 + (tall // self.tile) * (wide // self.tile)
        if width / height > columns / rows:
            rows -= (rows - int(round(height * (columns / width), 7))) // 2 * 2
        else:
            columns -= (columns - int(round(width * (rows / height), 7))) // 2 * 2
        ratio = math.sqrt(rows * columns / (self.most * side**2)) if self.most else 0
        if ratio > 1.1:
            rows, columns = int(rows // ratio), int(columns // ratio)
        received = side * side + rows * columns + rows
        return Cut((Grid(n, side, side),), text=received)


class Marked(Rule, frozen=True, kw_only=True, tag="marked"):
    """Scaled until the longer side is as long as said, cut into tiles, rows and columns marked.

    Source: processing_idefics3.py and image_processing_idefics3.py of transformers 5.24.0;
    arXiv:2408.12637 section 2.2.
    """

    longest: Pixels
    tile: Pixels

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """As many pictures of one size, with the whole image."""
        height, width = scaled(height, width, self.longest)
        rows, columns = (math.ceil(size / self.tile) for size in (height, width))
        side = self.tile // patch
        tokens = (side // merge) ** 2
        if rows * columns == 1:
            return Cut((Grid(1, side, side),), marks=3)
        n = rows * columns + 1
        prompt = tokens + 3 + rows * ((tokens + 2) * columns + 1)
        return Cut((Grid(n, side, side),), marks=prompt - n * tokens)


class Canvas(Rule, frozen=True, kw_only=True, tag="canvas"):
    """The canvas of tiles that scales the image up least, or down least, and the whole image.

    Source: image_processing_llama4.py of transformers 5.24.0.
    """

    tile: Pixels
    max_tiles: Pixels

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """As many pictures of one size."""
        scales = {
            (rows, columns): min(rows * self.tile / height, columns * self.tile / width)
            for columns, rows in shapes(1, self.max_tiles)
        }
        up = [scale for scale in scales.values() if scale >= 1]
        chosen = min(up) if up else max(scales.values())
        n = min(rows * columns for (rows, columns), scale in scales.items() if scale == chosen)
        side = self.tile // patch
        return Cut((Grid(n + (n > 1), side, side),))


class Padded(Rule, frozen=True, kw_only=True, tag="padded"):
    """Always as many tiles, padded to a multiple of tokens, that attend to each other.

    Source: modeling_mllama.py of transformers 5.24.0; arXiv:2407.21783 section 7.1.
    """

    tile: Pixels
    tiles: Pixels
    multiple: Pixels = 8

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """As many pictures of one size; the prompt has one mark for all of them."""
        side = self.tile // patch
        return Cut((Grid(self.tiles, side, side),), prompt=1)


class Budget(Rule, frozen=True, kw_only=True, tag="budget"):
    """The largest size in the image's shape that makes at most so many tokens.

    Source: image_processing_gemma4.py of transformers 5.24.0.
    """

    tokens: Pixels

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """One picture."""
        side, most = patch * merge, self.tokens
        factor = math.sqrt(most * merge * merge * patch**2 / (height * width))
        rows, columns = (math.floor(factor * size / side) for size in (height, width))
        if not rows and not columns:
            raise ValueError(f"{height}x{width}: no side is a token long")
        if not rows:
            rows, columns = 1, min(width // height, most)
        elif not columns:
            rows, columns = min(height // width, most), 1
        return Cut((Grid(1, rows * merge, columns * merge),))


class Tiled(Rule, frozen=True, kw_only=True, tag="tiled"):
    """An image within limits as it is, a larger one in tiles beside the whole one.

    Source: image_processing_lfm2_vl.py of transformers 5.24.0; arXiv:2511.23404.
    """

    tile: Pixels
    min_tiles: Pixels
    max_tiles: Pixels
    min_tokens: Pixels
    max_tokens: Pixels
    tolerance: Pixels
    thumbnail: bool = True

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """One picture, or tiles of one size and one of its own."""
        side = patch * merge
        area = [tokens * side**2 for tokens in (self.min_tokens, self.max_tokens)]
        rounded = [max(patch, round(size / side) * side) for size in (height, width)]
        tall, wide = limited(height, width, side, *area, least=side)
        whole = Grid(1, tall // patch, wide // patch)
        is_cut = not self.min_tiles == self.max_tiles == 1
        if rounded[0] * rounded[1] <= area[1] * self.tolerance or not is_cut:
            return Cut((whole,))
        columns, rows = nearest_shape(height, width, self.tile, self.min_tiles, self.max_tiles)
        tiles = Grid(rows * columns, self.tile // patch, self.tile // patch)
        return Cut((tiles, whole) if self.thumbnail else (tiles,))


class Page(Rule, frozen=True, kw_only=True, tag="page"):
    """Only shrunk, until it fits; rounded up to patches; a mark a row.

    Source: image_processing_fuyu.py and processing_fuyu.py of transformers 5.24.0.
    """

    height: Pixels
    width: Pixels
    side: Pixels

    def cut(self, height: int, width: int, patch: int, merge: int) -> Cut:
        """One picture."""
        scale = min(self.height / height, self.width / width)
        tall, wide = (min(int(size * scale), size) for size in (height, width))
        rows, columns = (max(1, math.ceil(size / self.side)) for size in (tall, wide))
        return Cut((Grid(1, rows, columns),), marks=rows)


Sizes = (
    Whole | Fixed | Area | Longest | Shape | Cover | Anyres | Marked | Canvas | Padded | Budget
    | Tiled | Page
)  # fmt: skip
