"""Which keys a query attends to, and how many tokens of them a cache keeps: one closed union.

Each kind answers for itself.  ``ctx`` and ``tokens`` are lengths in tokens; answers are keys (or
entries) of one query, query-key pairs of several, or tokens' worth of state.
"""

from __future__ import annotations

import msgspec

from txcalc.exact.counting import series
from txcalc.exact.quantity import (
    ONE,
    TWO,
    ZERO,
    Letter,
    Quantity,
    defined,
    least,
    product,
    walk,
)


class Kept(msgspec.Struct, frozen=True):
    """What a cache keeps of the tokens before."""

    def kept(self, tokens: Quantity) -> Quantity:
        """How many elements wide the state is after ``tokens``, in widths of one token."""
        raise NotImplementedError

    def growth(self, tokens: Quantity) -> Quantity:
        """What one token more than ``tokens`` adds; of entries, their mean."""
        return self.written

    @property
    def written(self) -> Quantity:
        """What one token adds in the long run."""
        return ONE


class Attends(Kept, frozen=True):
    """What a query attends to, where a cache keeps it."""

    def one(self, ctx: Quantity) -> Quantity:
        """Keys of one query at ``ctx``, itself included."""
        raise NotImplementedError

    def masked(self, ctx: Quantity) -> Quantity:
        """The same where a mask hides what one query at ``ctx`` may not see."""
        return self.one(ctx)

    def mean(self, ctx: Quantity) -> Quantity:
        """Visible keys of a query, averaged over all positions up to ``ctx``."""
        raise NotImplementedError

    def square(self, ctx: Quantity) -> Quantity:
        """Keys of a query where every query is multiplied with every key."""
        return ctx

    def both_ways(self, length: Quantity) -> Quantity:
        """Visible keys of a query that sees both directions of a text, averaged."""
        return self.one(length)

    def steps(self, first: Quantity, last: Quantity) -> Quantity:
        """Pairs of one query at each position from ``first`` to ``last``."""
        raise NotImplementedError

    def recomputed(self, first: Quantity, last: Quantity) -> Quantity:
        """The same where all t tokens are queries again at each length t."""
        raise NotImplementedError


class All(Attends, frozen=True):
    """Every token up to the query's own."""

    def one(self, ctx: Quantity) -> Quantity:
        """As many as there are."""
        return ctx

    def mean(self, ctx: Quantity) -> Quantity:
        """1, 2, ... ctx."""
        return _keys((ctx + ONE) / TWO)

    def steps(self, first: Quantity, last: Quantity) -> Quantity:
        """As many as each position."""
        return series(ZERO, None, first, last)

    def recomputed(self, first: Quantity, last: Quantity) -> Quantity:
        """As many as each position, for each of the t queries."""
        return series(ONE, None, first, last)

    def kept(self, tokens: Quantity) -> Quantity:
        """Every token."""
        return tokens


class Window(Attends, frozen=True):
    """The last ``size`` tokens, the query's own included."""

    size: Quantity

    def one(self, ctx: Quantity) -> Quantity:
        """At most ``size``."""
        return _keys(least(ctx, self.size), self.size)

    def mean(self, ctx: Quantity) -> Quantity:
        """1, 2, ... size, and size from there on."""
        return _keys(series(ZERO, self.size, ONE, ctx) / ctx, self.size)

    def both_ways(self, length: Quantity) -> Quantity:
        """Half of the window's other tokens on either side, as far as the text reaches."""
        side = (self.size - ONE) // TWO
        pairs = length + product(TWO, series(ZERO, side, ONE, length - ONE))
        return _keys(pairs / length, self.size)

    def steps(self, first: Quantity, last: Quantity) -> Quantity:
        """At most ``size`` each."""
        return series(ZERO, self.size, first, last)

    def recomputed(self, first: Quantity, last: Quantity) -> Quantity:
        """At most ``size`` for each of the t queries."""
        return series(ONE, self.size, first, last)

    def kept(self, tokens: Quantity) -> Quantity:
        """At most ``size``."""
        return least(tokens, self.size)

    def growth(self, tokens: Quantity) -> Quantity:
        """Nothing once the window is full."""
        return self.kept(tokens + ONE) - self.kept(tokens)


class Chunk(Window, frozen=True):
    """The tokens up to the query's own in its chunk of ``size``; unmasked kernels run a window."""

    def masked(self, ctx: Quantity) -> Quantity:
        """What stands before the query in its chunk, and itself."""
        behind = product(self.size, (ctx - ONE) // self.size)
        return _keys(ctx - behind, self.size)

    def mean(self, ctx: Quantity) -> Quantity:
        """1, 2, ... size in each full chunk, and a rest."""
        full = ctx // self.size
        rest = ctx - product(full, self.size)
        pairs = product(full, series(ZERO, None, ONE, self.size)) + series(ZERO, None, ONE, rest)
        return _keys(pairs / ctx, self.size)


class Square(Attends, frozen=True):
    """The patches of an image in one square, ``size`` of them on a side.

    Only a pass over images knows how many squares there are: see :mod:`txcalc.workload.images`.
    """

    size: Quantity


class Entries(Attends, frozen=True):
    """One entry for each complete block of ``block`` tokens, ``most`` of them at most."""

    block: Quantity
    most: Quantity | None = None

    def one(self, ctx: Quantity) -> Quantity:
        """Entries that are complete after ``ctx`` tokens."""
        return _complete(ctx, self.block, self.most)

    def mean(self, ctx: Quantity) -> Quantity:
        """Entries that are complete at each position, averaged."""
        return self.steps(ONE, ctx) / ctx

    def square(self, ctx: Quantity) -> Quantity:
        """All entries there are at the end."""
        return _complete(ctx, self.block, None)

    def steps(self, first: Quantity, last: Quantity) -> Quantity:
        """Pairs of entries with one query at each position."""
        return self._until(last) - self._until(first - ONE)

    def recomputed(self, first: Quantity, last: Quantity) -> Quantity:
        """The same where t queries, at any position, attend to what is complete after t tokens."""
        return self._recomputed_until(last) - self._recomputed_until(first - ONE)

    def kept(self, tokens: Quantity) -> Quantity:
        """One entry for each complete block."""
        return tokens // self.block

    @property
    def written(self) -> Quantity:
        """A share of an entry."""
        return ONE / self.block

    def _until(self, last: Quantity) -> Quantity:
        """``block`` queries attend to one entry, as many to two, and so on; the rest to all."""
        if _is_before_all(last):
            return ZERO
        n = self.one(last)
        rest = last - product(n, self.block) + ONE
        return product(self.block, series(ZERO, None, ONE, n - ONE)) + product(n, rest)

    def _recomputed_until(self, last: Quantity) -> Quantity:
        """The same, each position t counted t times."""
        if _is_before_all(last):
            return ZERO
        n, block = self.one(last), self.block
        squares, firsts = (series(power, None, ONE, n - ONE) for power in (ONE, ZERO))
        inside = product(block, block, squares) + product(block, block - ONE, firsts) / TWO
        return inside + product(n, series(ZERO, None, product(n, block), last))


class Open(Kept, frozen=True):
    """The tokens of a block of ``block`` tokens that is not complete; none on average."""

    block: Quantity

    def kept(self, tokens: Quantity) -> Quantity:
        """What is left of whole blocks."""
        return tokens - product(tokens // self.block, self.block)

    @property
    def written(self) -> Quantity:
        """A token enters, and with its block all of it leaves."""
        return ZERO


class Fixed(Kept, frozen=True):
    """No token in particular: one state for the whole sequence."""

    def kept(self, tokens: Quantity) -> Quantity:
        """One state."""
        return ONE

    @property
    def written(self) -> Quantity:
        """The state is rewritten, not extended."""
        return ZERO


class Source(msgspec.Struct, frozen=True):
    """Every token of the encoder."""


Reach = All | Window | Chunk | Square | Entries | Open | Fixed | Source

ALL = All()
SOURCE = Source()
FIXED = Fixed()


def within(size: Quantity | None) -> All | Window:
    """A window where there is a size, else every token."""
    return ALL if size is None else Window(size)


def _complete(tokens: Quantity, block: Quantity, most: Quantity | None) -> Quantity:
    """Blocks that are complete after ``tokens``, of which a query attends to ``most``."""
    whole = tokens // block
    path = block.path if isinstance(block, Letter) else ""
    return defined("entries", whole if most is None else least(whole, most), path)


def _keys(keys: Quantity, size: Quantity | None = None) -> Letter:
    """The letter for the (mean) number of keys of a query; its window's path makes it unique."""
    path = size.path if isinstance(size, Letter) else ""
    return defined("keys", keys, path, "keys that a query attends to, averaged over the pass")


def _is_before_all(last: Quantity) -> bool:
    """Whether no position comes before the first, whatever is asked."""
    return last.value < 1 and not any(isinstance(node, Letter) for node in walk(last))
