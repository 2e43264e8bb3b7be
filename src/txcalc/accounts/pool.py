"""The pool of an engine's cache: how many pieces there are, and how many a request takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import msgspec

from txcalc.accounts.caches import Caches, Spec
from txcalc.exact.quantity import (
    ONE,
    ZERO,
    Letter,
    Quantity,
    ceil_div,
    const,
    most,
    product,
    total,
)
from txcalc.workload.engine import Engine

RATIO = Letter(
    Fraction(4, 5), "swa_ratio", about="tokens of the windows' pool for one of the other"
)
"""SGLang's default of --swa-full-tokens-ratio."""


class Share(msgspec.Struct, frozen=True):
    """``pieces`` of a pool, each of ``cost`` bytes, of which one request takes ``each``.

    Pieces that are ``held_back`` are no request's.  Where a piece is a byte, its cost is 1.
    """

    pieces: Quantity
    cost: Quantity
    each: Callable[[Caches], Quantity]
    held_back: Quantity = ZERO

    @property
    def usable(self) -> Quantity:
        """Pieces for requests."""
        return self.pieces if self.held_back is ZERO else most(self.pieces - self.held_back, ZERO)

    def needed(self, requests: Quantity, caches: Caches) -> Quantity:
        """Bytes of so many requests."""
        taken = product(requests, self.each(caches))
        return product(taken if self.held_back is ZERO else taken + self.held_back, self.cost)


class Pool(msgspec.Struct, frozen=True):
    """Where requests are held: each of the shares has to hold its part of all of them.

    ``blocks`` and ``tokens`` are what an engine with blocks prints.
    """

    shares: Sequence[Share]
    blocks: Quantity | None = None
    tokens: Quantity | None = None


def pool(engine: Engine, caches: Caches, budget: Quantity) -> Pool | None:
    """An engine's pool in so many bytes; None of an engine with blocks that no token fills."""
    if engine.name in ("none", "llamacpp"):
        whole = budget if isinstance(budget.value, int) else budget // ONE
        return Pool([Share(whole, ONE, lambda held: held.sequence)])
    if not caches.specs:
        return None
    if engine.name == "vllm":
        return _groups(engine, caches, budget)
    return _pools(engine, caches, budget)


def group_size(specs: Sequence[Spec]) -> int:
    """Layers of one of vLLM's groups, each of layers alike: as many as the rarest kind has.

    Where the most frequent one has less than 1.5 times as many, as many as that: vLLM v1
    kv_cache_utils.py, _get_kv_cache_groups_uniform_page_size.
    """
    counts = [int(spec.layers.value) for spec in specs]
    return max(counts) if 2 * max(counts) < 3 * min(counts) else min(counts)


def _groups(engine: Engine, caches: Caches, budget: Quantity) -> Pool:
    """One pool of vLLM, each block of which holds a block of tokens of one group of layers.

    Layers alike are one group, whose pages may differ.  Else all pages are as large as the largest:
    a smaller one holds so many tokens more, or is padded (unify_kv_cache_spec_page_size).  One
    block is null (block_pool.py).
    """
    if len({spec.window for spec in caches.specs}) == 1:
        layers, groups = ONE, ONE
        page = total((product(spec.layers, spec.page) for spec in caches.specs), "bytes")
    else:
        layers = const(group_size(caches.specs))
        groups = total((ceil_div(spec.layers, layers) for spec in caches.specs), "")
        page = max((spec.page for spec in caches.specs), key=lambda page: page.value)
    cost = product(engine.block, caches.dcp, layers, page)
    blocks = budget // cost

    def each(held: Caches) -> Quantity:
        if groups is ONE:
            taken = [_blocks(engine, held, held.specs[0], engine.block)]
        else:
            taken = [
                product(
                    ceil_div(spec.layers, layers),
                    _blocks(engine, held, spec, _tokens_of(engine, spec, page)),
                )
                for spec in held.specs
            ]
        beside = [ceil_div(held.beside, cost)] if held.beside.value else []
        return total((*taken, *beside), "")

    tokens = product(blocks if groups is ONE else blocks // groups, engine.block, caches.dcp)
    return Pool([Share(blocks, cost, each, engine.null_blocks)], blocks, tokens)


def _tokens_of(engine: Engine, spec: Spec, page: Quantity) -> Quantity:
    """Tokens that a block of the largest page holds of a layer with a smaller one."""
    ratio = Fraction(page.value) / spec.page.value
    return product(const(ratio.numerator), engine.block) if ratio.denominator == 1 else engine.block


def _pools(engine: Engine, caches: Caches, budget: Quantity) -> Pool:
    """SGLang's pages, those of windows in a pool of their own where other layers are there too.

    model_executor/model_runner_kv_cache_mixin.py: set_num_tokens_hybrid_swa.
    """
    windows = [spec for spec in caches.specs if spec.window is not None]
    others = [spec for spec in caches.specs if spec.window is None]
    if not (windows and others):
        return _one_pool(engine, caches, budget)
    of_windows, of_others = (
        product(
            engine.block, caches.dcp, total((product(s.layers, s.page) for s in specs), "bytes")
        )
        for specs in (windows, others)
    )
    together = total((of_others, product(RATIO, of_windows)), "bytes")
    pages = budget // together
    in_window = product(RATIO, pages) // ONE

    def of(spec: Spec) -> Callable[[Caches], Quantity]:
        place = caches.specs.index(spec)
        return lambda held: _blocks(engine, held, held.specs[place], engine.block)

    shares = [Share(pages, together, of(spec)) for spec in others]
    shares += [Share(in_window, together / RATIO, of(spec)) for spec in windows]
    return Pool(shares, pages, product(pages, engine.block, caches.dcp))


def _one_pool(engine: Engine, caches: Caches, budget: Quantity) -> Pool:
    """Pages of all layers together."""
    page = total((product(spec.layers, spec.page) for spec in caches.specs), "bytes")
    cost = product(engine.block, caches.dcp, page)
    pages = budget // cost

    def each(held: Caches) -> Quantity:
        taken = [_blocks(engine, held, spec, engine.block) for spec in held.specs]
        largest = max(taken, key=lambda blocks: blocks.value)
        beside = [ceil_div(held.beside, cost)] if held.beside.value else []
        return total((largest, *beside), "")

    return Pool([Share(pages, cost, each)], pages, product(pages, engine.block, caches.dcp))


def _blocks(engine: Engine, held: Caches, spec: Spec, size: Quantity) -> Quantity:
    """Blocks of so many tokens that one request takes in each layer of a kind."""
    if spec.window is None:
        return ceil_div(held.on_gpu(held.ctx), size)
    return ceil_div(held.on_gpu(engine.seen(spec.window, held.ctx)), size) + ONE
