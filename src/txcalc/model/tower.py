"""Towers: what turns images or sound into vectors, and what joins it to a text model."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity
from txcalc.model.images import Sizes
from txcalc.model.parts.base import dim
from txcalc.model.parts.tensor import Tensor
from txcalc.model.rows import Op, Weight, linear
from txcalc.model.structure import Block, Stack, table
from txcalc.workload.reach import SOURCE


class Patch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The product that makes a vector of each square of pixels, arXiv:2010.11929 section 3.1.

    A patch may span several ``frames``, of a video or of one image that is repeated.
    """

    patch_size: Annotated[Letter, dim("side of a patch in pixels")]
    channels: Annotated[Letter, dim("channels of a pixel")]
    frames: Annotated[Letter | None, dim("frames that a patch spans")] = None
    bias: bool = False

    def weights(self, d_model: Quantity) -> list[Weight]:
        """One matrix: a convolution whose stride is its size."""
        frames = () if self.frames is None else (self.frames,)
        inputs = (self.channels, *frames, self.patch_size, self.patch_size)
        return linear("patch", inputs, (d_model,), bias=self.bias, stream="patches")


class Conv(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A convolution over frames, before the first layer.

    One that stands ``beside`` the stream adds to it (positions) and hands no frames on.
    """

    outputs: Annotated[Letter, dim("channels that a convolution writes")]
    inputs: Annotated[Letter, dim("channels that one output reads")]
    taps: Annotated[Letter, dim("frames that one output reads")]
    stride: int = 1
    padding: int = 0
    bias: bool = False
    beside: bool = False

    def weights(self, name: str) -> list[Weight]:
        """One matrix over the frames of its taps."""
        return linear(name, (self.inputs, self.taps), (self.outputs,), bias=self.bias)

    def frames(self, frames: int) -> int:
        """How many it makes of so many."""
        return max(0, (frames + 2 * self.padding - int(self.taps.value)) // self.stride + 1)


class Sound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a sound becomes frames: one every ``hop`` of ``rate`` samples a second.

    Each piece of so many ``seconds`` is padded to all of them; without, a sound is one piece as it
    is.
    """

    rate: Annotated[Letter, dim("samples a second")]
    hop: Annotated[Letter, dim("samples from one frame to the next")]
    seconds: Annotated[Letter | None, dim("seconds that a piece of sound is padded to")] = None
    pieces: Annotated[Letter | None, dim("pieces of sound that are read at most")] = None


class Side(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stream of its own width, layers on it, and tensors beside them; any of it may be left out.

    Widths of tensors are looked up here before they are looked up in the whole model.
    """

    d_model: Annotated[Letter | None, dim("width of the residual stream")] = None
    blocks: dict[str, Block] = {}
    layers: Stack | None = None
    tensors: dict[str, Tensor] = {}

    def before(self) -> list[Weight]:
        """What stands before the first layer."""
        if self.layers is None or self.d_model is None:
            return []
        return list(self.layers.embedding(self.d_model).values())


class Projector(Side, frozen=True, kw_only=True):
    """What works on the vectors of a tower: it joins them to the text model, or pools them.

    Its own tokens are those that it makes, its source those of the tower.  A resampler's are
    learned ``queries``, the same for each image that a tower sees (arXiv:2301.12597 section 3.1);
    others make a token of each patch, or of each square of ``merge`` patches on a side (of so many
    frames of sound), and of class tokens and registers only ``with_class``.  The mean of each
    square may be taken ``by_product`` with all patches of the picture.
    """

    queries: Annotated[Letter | None, dim("learned queries of a resampler")] = None
    merge: Annotated[Letter | None, dim("patches on a side that make one token")] = None
    with_class: bool = False
    by_product: bool = False

    def before(self) -> list[Weight]:
        """The queries, and what its stack begins with."""
        if self.queries is None or self.d_model is None:
            return super().before()
        return [table("queries", self.queries, self.d_model), *super().before()]

    def mean(self, source: Quantity) -> list[Op]:
        """The product that takes means, of vectors as wide as the tower's."""
        if not self.by_product:
            return []
        return [Op(name="mean", heads=ONE, d_qk=source, d_v=ZERO, reach=SOURCE)]


class Tower(Side, frozen=True, kw_only=True):
    """An encoder of images or of sound.

    Images are cut into patches, sound goes through the convolutions of a ``stem``.  Class tokens
    and registers (arXiv:2309.16588), learned vectors, may stand in front of the patches of each
    image.  How an image of any size becomes pictures that the tower sees is what ``image`` says,
    how a sound becomes frames ``sound``.  A ``pooler`` makes one vector of a picture, which a text
    model does not read.
    """

    reads: Literal["image", "sound"]
    image: Sizes | None = None
    sound: Sound | None = None
    patch: Patch | None = None
    stem: dict[str, Conv] = {}
    class_tokens: Annotated[Letter | None, dim("learned class tokens before the patches")] = None
    registers: Annotated[Letter | None, dim("learned registers before the patches")] = None
    pooler: Projector | None = None
    projector: Projector | None = None

    def before(self) -> list[Weight]:
        """What makes the patches, the learned tokens in front of them, positions and a norm."""
        if self.d_model is None:
            return []
        rows = [] if self.patch is None else self.patch.weights(self.d_model)
        extra = {"class_tokens": self.class_tokens, "registers": self.registers}
        rows += [table(name, n, self.d_model) for name, n in extra.items() if n is not None]
        return [*rows, *super().before()]
