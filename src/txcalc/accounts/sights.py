"""What a tower sees and hears of the images and the sound of a question: patches, and tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

import msgspec

from txcalc.errors import OptionError, RefusedError
from txcalc.exact.quantity import ZERO, Letter, Quantity, ceil_div, const, product, total
from txcalc.model.images import Cut, Grid, Padded
from txcalc.model.model import Given, Model
from txcalc.model.tower import Projector, Tower
from txcalc.workload.passes import NOTHING, Pass, Scores
from txcalc.workload.question import Question
from txcalc.workload.reach import ALL, Attends, Square

ROWS = "patches one below the other in a picture"
COLUMNS = "patches side by side in a picture"
PICTURES = "pictures that the tower sees"
PIECES = "pieces of sound that the tower hears"
FRAMES = "frames of a piece, as the convolutions leave them"


class Sight(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What one tower makes of one sequence's images, or of its sound.

    ``pictures`` of ``grids`` are patches of images, or pieces of frames in one row.  ``text`` and
    ``prompt`` are the tokens that the text model receives, and those with the marks among them.
    """

    tower: Tower
    grids: dict[Grid, tuple[Quantity, Quantity]]
    """How many pictures each grid has, and patches each of them."""
    text: Quantity | None
    marks: int
    prompts: int | None
    stem: dict[str, Quantity] = {}
    scores: Scores = "full"

    @cached_property
    def patches(self) -> Quantity:
        """Patches of all pictures."""
        return total((product(n, one) for n, one in self.grids.values()), "")

    @cached_property
    def pictures(self) -> Quantity:
        """All pictures."""
        return total((n for n, _ in self.grids.values()), "")

    @cached_property
    def tokens(self) -> Quantity:
        """Tokens that run through the layers."""
        return total((product(n, self._of_one(one)) for n, one in self.grids.values()), "")

    @cached_property
    def handed(self) -> Quantity:
        """Tokens that the tower hands to its projector."""
        projector = self.tower.projector
        with_class = projector is not None and projector.with_class
        return self._with_class(self.patches) if with_class else self.patches

    @cached_property
    def projected(self) -> Quantity:
        """Tokens that the projector makes."""
        projector = self.tower.projector
        if projector is None:
            return self.patches
        if projector.queries is not None:
            return product(projector.queries, self.pictures)
        if projector.merge is None:
            return self.handed
        return total((self._merged(grid, projector.merge) for grid in self.grids), "")

    @property
    def received(self) -> Quantity:
        """Tokens that the text model receives."""
        return self.projected if self.text is None else self.text

    @property
    def prompt(self) -> Quantity:
        """The same with the marks that a processor puts among them."""
        if self.prompts is not None:
            return const(self.prompts)
        return self.received + const(self.marks) if self.marks else self.received

    def passes(self, at: str, sequences: Quantity) -> dict[Given, Pass]:
        """The passes of a tower, its pooler and its projector, for so many sequences."""
        name = at.partition(".")[2]
        pictures = product(sequences, self.pictures)
        patches = product(sequences, self.patches)
        projected = product(sequences, self.projected)
        tokens = product(sequences, self.tokens)
        own = Pass(
            tokens=tokens,
            attended=lambda reach: product(sequences, self._pairs(reach)),
            sequences=pictures,
            patches=patches,
            projected=projected,
        )
        passes: dict[Given, Pass] = {at: own}
        for conv, frames in self.stem.items():
            passes[f"{at}.{conv}"] = Pass(
                tokens=product(sequences, frames), attended=lambda _: ZERO
            )
        pooled = self._of_queries(self.tower.pooler, pictures, tokens)
        handed = product(sequences, self.handed)
        joined = self._of_queries(self.tower.projector, pictures, handed)
        meant = product(sequences, self._unless_none(self._means))
        passes[f"{at}.pooler"] = pooled
        passes[f"projector.{name}"] = msgspec.structs.replace(
            joined, tokens=projected, patches=patches, projected=projected,
            cross_pairs=meant if joined.cross_pairs.value == 0 else joined.cross_pairs,
        )  # fmt: skip
        return passes

    @property
    def _means(self) -> Quantity:
        """Pairs of a token that a projector makes and a patch of the same picture."""
        projector = self.tower.projector
        if projector is None or projector.merge is None:
            return ZERO
        made = ((grid, self._merged(grid, projector.merge)) for grid in self.grids)
        return total((product(n, self.grids[grid][1]) for grid, n in made), "")

    def _of_queries(self, side: Projector | None, pictures: Quantity, source: Quantity) -> Pass:
        """The pass of learned queries, as many of each picture, over a tower's tokens."""
        queries = ZERO if side is None or side.queries is None else side.queries
        own, across = product(queries, queries, pictures), product(queries, source)
        return Pass(
            tokens=product(queries, pictures),
            attended=lambda _: self._unless_none(own),
            sequences=pictures,
            source_tokens=source,
            cross_pairs=self._unless_none(across),
        )

    @property
    def _extra(self) -> list[Letter]:
        """Learned tokens before the patches of a picture."""
        return [n for n in (self.tower.class_tokens, self.tower.registers) if n is not None]

    def _with_class(self, patches: Quantity) -> Quantity:
        return total((patches, *(product(n, self.pictures) for n in self._extra)), "")

    def _of_one(self, patches: Quantity) -> Quantity:
        """Tokens of a picture of so many patches, where a tower pads up to a multiple of some."""
        tokens = total((patches, *self._extra), "")
        if not isinstance(self.tower.image, Padded):
            return tokens
        multiple = const(self.tower.image.multiple)
        return product(multiple, ceil_div(tokens, multiple))

    def _pairs(self, reach: Attends) -> Quantity:
        """Query-key pairs of all pictures: within each, within its squares, or among all."""
        if isinstance(self.tower.image, Padded):
            return self._unless_none(product(self.tokens, self.tokens))
        return self._unless_none(total((self._within(grid, reach) for grid in self.grids), ""))

    def _within(self, grid: Grid, reach: Attends) -> Quantity:
        """Pairs in all pictures of a grid."""
        pictures, patches = self.grids[grid]
        if isinstance(reach, Square):
            pairs = _squares(grid.rows, reach) * _squares(grid.columns, reach)
            return product(pictures, const(pairs))
        tokens = self._of_one(patches)
        keys = {"square": reach.square, "causal": reach.mean}.get(self.scores, reach.one)
        return product(pictures, tokens, tokens if reach == ALL else keys(tokens))

    def _unless_none(self, pairs: Quantity) -> Quantity:
        return ZERO if self.scores == "none" else pairs

    def _merged(self, grid: Grid, merge: Letter) -> Quantity:
        """Tokens of squares of patches, an edge's with fewer; of frames, whole groups."""
        pictures, patches = self.grids[grid]
        side, is_sound = int(merge.value), self.tower.reads == "sound"
        rows = 1 if is_sound else side
        if grid.rows % rows or grid.columns % side:
            columns = grid.columns // side if is_sound else -(-grid.columns // side)
            return product(pictures, const(-(-grid.rows // rows) * columns))
        return product(pictures, patches) / (merge if is_sound else product(merge, merge))


def sights(model: Model, question: Question) -> dict[str, Sight]:
    """What each tower makes of a question's images and sound; nothing where there are none.

    Raises:
        OptionError: images or sound for a model that has no tower for them, or of a size that its
            rule refuses.
        RefusedError: towers that are not described, or without a rule of sizes.
    """
    seen: dict[str, Sight] = {}
    asked = {"image": bool(question.images), "sound": question.seconds is not None}
    for reads, option in (("image", "image"), ("sound", "audio")):
        if not asked[reads]:
            continue
        if model.left_out is not None:
            raise RefusedError(f"{model.name}: --{option}: {model.left_out}")
        towers = {name: t for name, t in model.towers.items() if t.reads == reads}
        if not towers:
            raise OptionError(f"{model.name} has no tower for it: --{option} means nothing")
        for name, tower in towers.items():
            seen[name] = (_image if reads == "image" else _sound)(model, tower, name, question)
    return seen


def tower_passes(model: Model, seen: dict[str, Sight], sequences: Quantity) -> dict[Given, Pass]:
    """The passes of every tower and projector; of one that sees nothing, nothing."""
    passes: dict[Given, Pass] = {}
    for name, tower in model.towers.items():
        at = f"tower.{name}"
        if name in seen:
            passes |= seen[name].passes(at, sequences)
        else:
            idle = [at, f"{at}.pooler", f"projector.{name}", *(f"{at}.{c}" for c in tower.stem)]
            passes |= dict.fromkeys(idle, NOTHING)
    return passes


def _image(model: Model, tower: Tower, name: str, question: Question) -> Sight:
    rule = tower.image
    if rule is None:
        raise RefusedError(f"{model.name}: --image: no rule of sizes is known for tower {name!r}")
    patch = 1 if tower.patch is None else int(tower.patch.patch_size.value)
    merge = tower.projector.merge if tower.projector is not None else None
    cuts = []
    for height, width in question.images:
        try:
            cuts.append(rule.cut(height, width, patch, 1 if merge is None else int(merge.value)))
        except ValueError as error:
            raise OptionError(
                f"--image {height}x{width}: {model.name} takes none: {error}"
            ) from None
    text = None if all(c.text is None for c in cuts) else const(sum(c.text or 0 for c in cuts))
    if text is not None:
        text = Letter(
            text.value, "image_tokens", about="tokens of images, as their rule leaves them"
        )
    prompts = None if any(c.prompt is None for c in cuts) else sum(c.prompt or 0 for c in cuts)
    return Sight(
        tower=tower, grids=_grids(cuts), text=text, marks=sum(c.marks for c in cuts),
        prompts=prompts, scores=question.scores,
    )  # fmt: skip


def _grids(cuts: Iterable[Cut]) -> dict[Grid, tuple[Quantity, Quantity]]:
    """The pictures of all images by their shape, with the patches of each."""
    counted: Counter[tuple[int, int]] = Counter()
    for cut in cuts:
        for grid in cut.grids:
            counted[grid.rows, grid.columns] += grid.pictures
    grids: dict[Grid, tuple[Quantity, Quantity]] = {}
    for i, ((rows, columns), n) in enumerate(counted.items(), 1):
        path = f"shape{i}." if len(counted) > 1 else ""
        letters = [
            Letter(value, name, path and f"{path}{name}", about=about)
            for value, name, about in (
                (n, "pictures", PICTURES),
                (rows, "rows", ROWS),
                (columns, "columns", COLUMNS),
            )
        ]
        grids[Grid(n, rows, columns)] = letters[0], product(*letters[1:])
    return grids


def _sound(model: Model, tower: Tower, name: str, question: Question) -> Sight:
    rule, seconds = tower.sound, question.seconds
    assert seconds is not None
    if rule is None:
        raise RefusedError(f"{model.name}: --audio: no rule of lengths is known for tower {name!r}")
    samples = int(seconds * rule.rate.value)
    pieces = 1
    if rule.seconds is not None:
        pieces = -(-samples // int(rule.seconds.value * rule.rate.value))
        samples = int(rule.seconds.value * rule.rate.value)
        if rule.pieces is not None and pieces > rule.pieces.value:
            most = int(rule.pieces.value * rule.seconds.value)
            raise OptionError(f"--audio {question.audio}: {model.name} reads {most} s at most")
    frames = samples // int(rule.hop.value)
    stem: dict[str, Quantity] = {}
    n = Letter(pieces, "pieces", about=PIECES)
    for conv, each in tower.stem.items():
        made = each.frames(frames)
        if not made:
            raise OptionError(f"--audio {question.audio}: too short for a frame of {model.name}")
        stem[conv] = product(n, Letter(made, f"{conv}_frames", about=f"frames that {conv} makes"))
        frames = frames if each.beside else made
    letter = Letter(frames, "frames", about=FRAMES)
    return Sight(
        tower=tower, grids={Grid(pieces, 1, frames): (n, letter)}, text=None, marks=0,
        prompts=None, stem=stem, scores=question.scores,
    )  # fmt: skip


def _squares(length: int, reach: Square) -> int:
    """The sum of squares of the parts that a side falls into."""
    size = int(reach.size.value)
    return length // size * size * size + (length % size) ** 2
