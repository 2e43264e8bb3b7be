"""A model with random weights, run: embedding, stacks, head."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
import numpy as np

from txcalc.errors import RefusedError
from txcalc.model.model import Model
from txcalc.model.parts.altup import AltUp
from txcalc.model.parts.hyper import HyperConnections
from txcalc.model.parts.positions import Learned, Relative, Sinusoidal
from txcalc.model.structure import Block
from txcalc.reference.block import run_block
from txcalc.reference.cache import Cache, State
from txcalc.reference.counter import Array, Counter, Ids
from txcalc.reference.kinds.base import refuse
from txcalc.reference.kinds.tensor import run_tensor
from txcalc.reference.positions import Places, sinusoids
from txcalc.reference.site import How, Site, number
from txcalc.reference.weights import Weights

StackName = Literal["encoder", "decoder"]


class Network:
    """The model that a description means, with weights at random."""

    def __init__(self, model: Model, seed: int = 0) -> None:
        if model.vocab is None:
            raise RefusedError(f"{model.name}: no text model: a tower alone has no run yet")
        self.model, self.vocab = model, model.vocab
        for block in model.blocks.values():
            if block.partial:
                raise RefusedError(f"{model.name}: a partial block has no run")
            if block.loop_state == "last":
                refuse("block", "loop_state last")
        if any(tensor.use == "conv" for tensor in model.tensors.values()):
            refuse("tensor", "use conv outside of a block, where nothing is kept")
        self.weights = Weights(model, seed)

    def run(
        self,
        ids: Ids,
        *,
        cache: Cache | None = None,
        source: Ids | None = None,
        first: int | None = None,
        how: How | None = None,
        counter: Counter | None = None,
    ) -> Array:
        """Logits of tokens (batch, tokens), those after what a ``cache`` holds.

        Their ``first`` position is the one after it.

        A decoder beside an encoder needs the encoder's tokens as ``source``, unless the cache has
        their keys and values.

        Raises:
            RefusedError: a kind that does not run, or a position that the model has not learned.
            UnprovedError: a row that the architecture contradicts.
        """
        cache = Cache() if cache is None else cache
        counter = Counter() if counter is None else counter
        one = _Pass(self, cache, cache.begin(first), how or How(), counter)
        if not self.model.has_decoder:
            return one.head(one.stack("encoder", ids))
        memory = None if source is None else one.stack("encoder", source)
        logits = one.head(one.stack("decoder", ids, memory))
        cache.length += ids.shape[1]
        return logits


class _Pass:
    """One run of a network."""

    def __init__(
        self, network: Network, cache: Cache, first: int, how: How, counter: Counter
    ) -> None:
        self._model, self._vocab, self._weights = network.model, network.vocab, network.weights
        self._cache, self._first, self._how, self._counter = cache, first, how, counter

    def stack(self, name: StackName, ids: Ids, memory: Array | None = None) -> Array:
        """The stream behind a stack's last layer and its norm: (batch, tokens, d_model)."""
        stack, first = self._model.stacks[name], self._first if name == "decoder" else 0
        places, how = self._places(name, first, ids.shape[1]), self._how
        if name == "encoder":  # which keeps no latents, and so expands them
            how = msgspec.structs.replace(how, mla="expanded")
        x = self._free("own", name, self._embedded(name, ids, places), ids, places)
        if name == "encoder":
            x = self._free("source", name, x, ids, places)
        kinds = [self._model.blocks[kind] for kind in stack.layers()]
        x = _widened(x, kinds)
        shared: dict[object, tuple[Array, Array]] = {}
        for position, kind in enumerate(stack.layers()):
            for loop in _loops(kinds[position]):
                state = self._cache.layer(position, loop) if name == "decoder" else State()
                site = Site(
                    component=f"block.{kind}", tensors=self._weights.layers[name, position],
                    counter=self._counter, how=how, places=places, state=state,
                    source=memory, shared=shared,
                )  # fmt: skip
                x = run_block(kinds[position], x, ids, site)
        x = x if x.ndim == 3 else x.mean(-2)
        x = self._own("final_norm", name, places).norm("norm", x, stack.final_norm)
        last = self._free("sequence", name, x[:, -1:], ids[:, -1:], places)
        return np.concatenate([x[:, :-1], last], 1)

    def head(self, x: Array) -> Array:
        """Logits, or the stream where the model has no head."""
        head, embedding = self._model.head, self._model.embedding
        if head is None:
            return x
        site = self._site("head", Places(None, 0, x.shape[1]))
        width = head.d_head
        if width is None:
            width = self._model.d_model if embedding is None else embedding.d_embed
        if head.transform is not None:
            x = np.tanh(site.linear("transform", x, width, bias=head.transform_bias))
            x = site.norm("transform_norm", x, head.transform)
        if x.shape[-1] != number(width):
            refuse("head", "no transform from the stream to the channels that it reads")
        rows = head.n_outputs or self._vocab
        if not head.tied:
            return site.linear("output", x, rows, bias=head.bias)
        vocab = self._model.stacks[self._main].vocab
        tables = self._site("embedding", site.places, vocab is not None)
        table = tables.weight("tokens", vocab or self._vocab, width)
        logits = self._counter.linear("head.output", x, table[: number(rows)].T, 1)
        return logits + site.weight("output_bias", rows) if head.bias else logits

    def _embedded(self, name: StackName, ids: Ids, places: Places) -> Array:
        """Tokens looked up, with positions and token types added, normalised and projected."""
        stack, embedding = self._model.stacks[name], self._model.embedding
        site = self._own("embedding", name, places)
        x = self._looked_up(name, ids, places)
        if embedding is not None and not embedding.all:
            x = self._projected(x, places)
        match stack.positions:
            case Learned(n_positions=rows):
                if places.queries[-1] >= number(rows):
                    raise RefusedError(
                        f"{self._model.name}: position {places.queries[-1] + 1} is beyond the "
                        f"{number(rows)} learned positions of its {name}"
                    )
                x = x + site.weight("positions", rows, x.shape[-1])[places.queries]
            case Sinusoidal():
                x = x + sinusoids(places.queries, x.shape[-1])
            case _:
                pass
        if stack.token_types is not None:
            x = x + site.weight("token_types", stack.token_types, x.shape[-1])[0]
        x = site.norm("norm", x, stack.embedding_norm)
        is_narrow = embedding is not None and embedding.all
        return self._projected(x, places) if is_narrow else x

    def _looked_up(self, name: StackName, ids: Ids, places: Places) -> Array:
        """The tokens' vectors; a stack that is given vectors, not tokens, gets some."""
        stacks, embedding = self._model.stacks, self._model.embedding
        width = self._model.width_of(name) if embedding is None else embedding.d_embed
        vocab = stacks[name].vocab
        if vocab is None and any(stack.vocab is not None for stack in stacks.values()):
            return sinusoids(ids.ravel(), number(width)).reshape(*ids.shape, -1)
        site = self._own("embedding", name, places) if vocab else self._site("embedding", places)
        vocab = vocab or self._vocab
        return site.weight("tokens", vocab, width)[ids % number(vocab)]

    def _projected(self, x: Array, places: Places) -> Array:
        """From the width of the token table to the stream's."""
        embedding = self._model.embedding
        assert embedding is not None
        site = self._site("embedding", places)
        return site.linear("project", x, self._model.d_model, bias=embedding.bias)

    def _places(self, name: StackName, first: int, tokens: int) -> Places:
        """The positions of a stack's tokens, and the table of score biases where it has one."""
        positions, both_ways = self._model.stacks[name].positions, name == "encoder"
        if not isinstance(positions, Relative):
            return Places(positions, first, tokens, both_ways=both_ways)
        bare = Places(None, first, tokens)
        rows, heads = positions.n_buckets, positions.n_heads
        table = self._own("embedding", name, bare).weight("positions", rows, heads)
        return Places(positions, first, tokens, both_ways=both_ways, table=table)

    def _free(self, stream: str, name: StackName, x: Array, ids: Ids, places: Places) -> Array:
        """Tensors of the model that no part knows, those of one stream."""
        if stream != "source" and name != self._main:
            return x
        for tensor, declared in self._model.tensors.items():
            if declared.stream == stream:
                x = run_tensor(declared, tensor, x, ids, self._site("tensors", places))
        return x

    @property
    def _main(self) -> StackName:
        return "decoder" if self._model.has_decoder else "encoder"

    def _own(self, component: str, name: StackName, places: Places) -> Site:
        """Tensors of one stack outside of its blocks."""
        return self._site(component, places, len(self._model.stacks) > 1, name)

    def _site(
        self, component: str, places: Places, suffixed: bool = False, name: StackName | None = None
    ) -> Site:
        prefix = f"{component}."
        tensors = {
            address.removeprefix(prefix): array
            for address, array in self._weights.beside.items()
            if address.startswith(prefix)
        }
        suffix = f".{name or self._main}" if suffixed else ""
        return Site(
            component=component,
            tensors=tensors,
            counter=self._counter,
            how=self._how,
            places=places,
            state=State(),
            suffix=suffix,
        )


def _loops(block: Block) -> Iterator[int]:
    return iter(range(1 if block.loops is None else number(block.loops)))


def _widened(x: Array, blocks: list[Block]) -> Array:
    """As many streams as the layers have: (batch, tokens, n_streams, d_model)."""
    numbers = {_streams(block) for block in blocks}
    if len(numbers) > 1:
        refuse("residual", "layers of different residual streams")
    n = numbers.pop()
    return x if n is None else np.repeat(x[..., None, :], n, -2)


def _streams(block: Block) -> int | None:
    match block.residual:
        case None:
            return None
        case AltUp(n_copies=n) | HyperConnections(n_streams=n):
            return number(n)
