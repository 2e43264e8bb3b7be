"""Tokens generated greedily, naively and with a cache."""

from __future__ import annotations

import msgspec
import numpy as np

from txcalc.reference.cache import Cache
from txcalc.reference.counter import Array, Counter, Ids
from txcalc.reference.network import Network
from txcalc.reference.site import How
from txcalc.workload.passes import default_form


class Generated(msgspec.Struct, frozen=True):
    """The tokens made, those processed to make them, and the multiply-adds of the blocks."""

    made: list[int]
    processed: int
    products: int


class Generation:
    """Ways of generating from one prompt (1, tokens); beside an encoder its keys are made before.

    Attention products are the bands of ``--scores full``.
    """

    def __init__(self, network: Network, prompt: Ids, source: Ids | None = None) -> None:
        self._network, self._prompt = network, prompt
        self._across = Cache()
        if source is not None:
            network.run(prompt, cache=self._across, source=source)

    def naive(self, new: int) -> Generated:
        """All tokens again for each new one."""
        counter, ids, processed = Counter(), self._prompt, 0
        for _ in range(new):
            logits = self._run(ids, self._across.of_source(), counter, How(scores="full"))
            processed += ids.shape[1]
            ids = _with_best(ids, logits)
        return self._generated(ids, processed, counter)

    def cached(self, new: int) -> Generated:
        """Each token once, the prompt before its last one being cached already."""
        cache, counter = self._across.of_source(), Counter()
        if self._prompt.shape[1] > 1:
            self._run(self._prompt[:, :-1], cache, Counter(), How(scores="full"))
        return self._steps(self._prompt, new, cache, counter, 0)

    def with_prefill(self, new: int) -> Generated:
        """The prompt's own pass, which makes the first token, and a step for each further one."""
        cache, counter = self._across.of_source(), Counter()
        logits = self._run(self._prompt, cache, counter, How(scores="full"))
        ids = _with_best(self._prompt, logits)
        return self._steps(ids, new - 1, cache, counter, self._prompt.shape[1])

    def _steps(
        self, ids: Ids, new: int, cache: Cache, counter: Counter, processed: int
    ) -> Generated:  # fmt: skip
        how = How(scores="full", mla=default_form("decode"))
        for _ in range(new):
            ids = _with_best(ids, self._run(ids[:, -1:], cache, counter, how))
        return self._generated(ids, processed + new, counter)

    def _run(self, ids: Ids, cache: Cache, counter: Counter, how: How) -> Array:
        return self._network.run(ids, cache=cache, counter=counter, how=how)

    def _generated(self, ids: Ids, processed: int, counter: Counter) -> Generated:
        made = ids[0, self._prompt.shape[1] :].tolist()
        products = (n for address, n in counter.products.items() if address.startswith("block."))
        return Generated(made, processed, sum(products))


def _with_best(ids: Ids, logits: Array) -> Ids:
    """The tokens and the best next one; of equal ones the first."""
    return np.concatenate([ids, logits[:, -1:].argmax(-1)], 1)
