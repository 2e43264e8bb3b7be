"""The sums: parameters, operations, state and traffic of a whole description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from tests.support.counting import state
from tests.support.counting.inventory import ROLES, Inventory
from tests.support.counting.keys import pairs, step
from tests.support.counting.rows import BYTES, Look, Run, Tensor

Number = int | Fraction
RESIDUAL = ("residual", "tensors")


class Counted(Inventory):
    """The counts of one description."""

    # Parameters.

    def parameters(self) -> dict[str, Number]:
        """Sums as ``params`` names them."""
        layers = [t for s in self.stacks for name in self.stored(s) for t in self.tensors(name)]
        beside = self.declared(self.tree.get("tensors", {})).tensors
        sums: dict[str, Number] = {
            "params.embedding": _stored(self.embedding()),
            "params.blocks": _stored(layers),
            "params.final_norm": _stored(self.final_norm()),
            "params.head": _stored(self.head()) - self.tied(),
            "params.tensors": _stored(beside),
        }
        unused = sum(t.each * (t.copies - t.used) for t in layers if t.use != "buffer")
        sums["params.total"] = sum(sums.values())
        sums["params.active"] = sums["params.total"] - unused
        sums["params.buffers"] = sum(t.size for t in [*layers, *beside] if t.use == "buffer")
        sums["params.mtp"] = self._mtp()
        for name in self.tree["blocks"]:
            sums |= _components(f"params.block.{name}", self.tensors(name))
        return sums

    def tensors(self, name: str) -> Sequence[Tensor]:
        """The tensors of one layer."""
        return self.part(name).tensors

    def _mtp(self) -> int:
        module = self.tree.get("mtp")
        if module is None:
            return 0
        own = self.declared(module.get("tensors", {})).tensors
        each = _stored(self.tensors(module["block"])) + _stored(own)
        return sum(each for _ in range(module["n_modules"]))

    # What a run gives to a product.

    def tokens(self, stack: str, run: Run) -> int:
        """Tokens of all sequences that a stack computes."""
        if run.stepping:
            return 0 if stack == "encoder" else 1 if run.phase == "token" else run.batch
        return run.batch * self.length(stack, run)

    def length(self, stack: str, run: Run) -> int:
        """Tokens of one sequence."""
        return run.source if stack == "encoder" and len(self.stacks) == 2 else run.ctx

    def given(self, tensor: Tensor, stack: str, run: Run) -> int:
        """Tokens that a tensor is multiplied with."""
        own = self.tokens(stack, run)
        source = 0 if run.stepping or run.source_done else run.batch * run.source
        match tensor.stream:
            case "source":
                return source
            case "both":
                return own + source
            case "sequence":
                return own if run.stepping else run.batch
            case "none":
                return 0
            case "latent" if run.mla == "reexpand" and run.stepping:
                return own * min(run.ctx, tensor.window or run.ctx)
            case _:
                return own

    def beside(self, run: Run) -> Iterator[tuple[str, Tensor, int]]:
        """Products outside of layers, and the tokens that each is given."""
        every = sum(self.tokens(stack, run) for stack in self.stacks)
        one_each = run.batch if run.phase != "token" else 1
        wanted = one_each if run.logits == "last" else self.tokens(self.main, run)
        declared = self.declared(self.tree.get("tensors", {})).tensors
        yield from (("embedding", t, every) for t in _multiplied(self.embedding()))
        yield from (("head", t, wanted) for t in _multiplied(self.head()))
        for tensor in _multiplied(declared):
            yield "tensors", tensor, self.given(tensor, self.main, run)

    # Operations.

    def work(self, run: Run) -> dict[str, Number]:
        """FLOPs as ``flops`` names them."""
        times = 3 if run.phase == "train" else 1
        found: dict[str, Number] = {}
        for stack in self.stacks:
            for name in self.named(stack):
                for component, cost in self.layer_work(name, stack, run).items():
                    found[f"flops.block.{name}{component}"] = times * cost
        found |= {"flops.embedding": 0, "flops.head": 0, "flops.tensors": 0}
        for place, tensor, tokens in self.beside(run):
            found[f"flops.{place}"] += times * 2 * tensor.per_token * tokens
        found["flops.blocks"] = times * sum(self.blocks_work(run, stack) for stack in self.stacks)
        tops = ("embedding", "blocks", "head", "tensors")
        found["flops.total"] = sum(found[f"flops.{top}"] for top in tops)
        return found

    def blocks_work(self, run: Run, stack: str) -> Number:
        """FLOPs of one forward pass through all layers of a stack."""
        each = {name: self.layer_work(name, stack, run)[""] for name in self.named(stack)}
        return sum(each[name] for name in self.runs(stack))

    def layer_work(self, name: str, stack: str, run: Run) -> dict[str, Number]:
        """One layer's FLOPs by component."""
        part = self.part(name)
        present = [c for c in RESIDUAL if any(t.where == c for t in _multiplied(part.tensors))]
        names = ("", *ROLES, *present, "projections", "scores", "matmul")
        costs: dict[str, Number] = {f".{name}" if name else "": 0 for name in names}

        def add(cost: Number, *components: str) -> None:
            for component in ("", *(f".{c}" for c in components)):
                costs[component] += cost

        for tensor in _multiplied(part.tensors):
            cost = 2 * tensor.per_token * self.given(tensor, stack, run)
            of_attention = ["projections"] * (tensor.where == "attention")
            add(cost, tensor.where, "matmul", *of_attention)
        for look in part.looks:
            cost = 2 * look.heads * self._widths(look, stack, run) * self.pairs(look, stack, run)
            add(cost, look.where, *["scores"] * (look.where == "attention"))
        for scan in part.scans:
            add(2 * scan.macs * self.tokens(stack, run), scan.where)
        return costs

    def _widths(self, look: Look, stack: str, run: Run) -> int:
        """An encoder keeps no latents, and so expands them."""
        absorbed = look.latent and run.mla == "absorbed" and stack == "decoder"
        return sum(look.latent if absorbed and look.latent else (look.d_qk, look.d_v))

    def pairs(self, look: Look, stack: str, run: Run) -> Number:
        """Query-key pairs of all sequences."""
        if look.keys == "source":
            return 0 if run.scores == "none" else self.tokens(stack, run) * run.source
        if stack == "encoder":
            length = self.length(stack, run)
            whole = 0 if run.stepping else pairs(run.scores, length, look.reach, both_sides=True)
            return run.batch * whole
        match run.phase:
            case "decode":
                return run.batch * step(run.scores, run.ctx, look.reach)
            case "token":
                return Fraction(pairs(run.scores, run.ctx, look.reach), run.ctx)
            case _:
                return run.batch * pairs(run.scores, run.ctx, look.reach)

    # State.

    def cache(self, ctx: int, source: int, element: Number) -> dict[str, Number]:
        """Bytes that one sequence keeps."""
        sums: dict[str, Number] = dict.fromkeys(
            ("token", "growth", "fixed", "cross", "sequence"), 0
        )
        for name in self.keeping("decoder") if "decoder" in self.stacks else ():
            for kept in self.part(name).kept:
                size = element if kept.fmt is None else BYTES[kept.fmt]
                for part, elements in state.parts(kept, ctx, source).items():
                    sums[part] += elements * size
        return {f"kvcache.{part}": bytes_ for part, bytes_ in sums.items()}

    # Traffic.

    def intensity(
        self, run: Run, weight: Number, cache: Number, activation: Number
    ) -> tuple[Fraction, Fraction]:
        """FLOPs over weight bytes, and all FLOPs over all bytes."""
        products, everything, passed = Fraction(0), Fraction(0), Fraction(0)
        for _, tensor, tokens in self.beside(run):
            products += 2 * tensor.per_token * tokens
            passed += tensor.passed * tokens
        everything += products
        for stack in self.stacks:
            for name in self.runs(stack):
                work = self.layer_work(name, stack, run)
                products += work[".matmul"]
                everything += work[""]
                passed += self._passed(name, stack, run)
        kept = self.cache(run.ctx, run.source, cache)
        moved = kept["kvcache.sequence"] + kept["kvcache.fixed"]
        moved += kept["kvcache.token"] * (1 if run.stepping else run.ctx)
        moved += 0 if run.stepping else kept["kvcache.cross"]
        read = self.read(run) * weight
        return products / read, everything / (read + passed * activation + run.batch * moved)

    def read(self, run: Run) -> Fraction:
        """Parameters that a pass multiplies, each read once; of experts their expected number."""
        found = Fraction(0)
        for _, tensor, tokens in self.beside(run):
            found += tensor.each * _distinct(tensor, tokens)
        for stack in self.stacks:
            for name in self.stored(stack):
                for tensor in _multiplied(self.tensors(name)):
                    tokens = self.given(tensor, stack, run)
                    found += tensor.each * _distinct(tensor, tokens)
        return found

    def _passed(self, name: str, stack: str, run: Run) -> Number:
        """Elements that one layer's products read and write; an encoder's keys and values too."""
        part, tokens = self.part(name), self.tokens(stack, run)
        found: Number = sum(t.passed * self.given(t, stack, run) for t in _multiplied(part.tensors))
        for look in part.looks:
            found += tokens * look.heads * self._widths(look, stack, run)
        for kept in part.kept if stack == "encoder" else ():
            found += tokens * kept.width if kept.span == "own" else 0
        return found


def _stored(tensors: Iterable[Tensor]) -> int:
    """Parameters; a buffer is none."""
    return sum(t.size for t in tensors if t.use != "buffer")


def _multiplied(tensors: Iterable[Tensor]) -> Iterator[Tensor]:
    return (t for t in tensors if t.use == "matmul")


def _components(address: str, tensors: Sequence[Tensor]) -> dict[str, Number]:
    """One layer's parameters by role, and its matrices and biases apart."""
    sums: dict[str, Number] = {address: _stored(tensors)}
    present = [c for c in RESIDUAL if any(t.where == c for t in tensors)]
    for component in (*ROLES, "norms", *present):
        sums[f"{address}.{component}"] = _stored(t for t in tensors if t.where == component)
    for component in (*ROLES, ""):
        for name, use in (("matmul", "matmul"), ("biases", "bias")):
            sums[f"{address}.{component}.{name}".replace("..", ".")] = sum(
                t.size for t in tensors if t.use == use and component in (t.where, "")
            )
    return sums


def _distinct(tensor: Tensor, tokens: int) -> Fraction:
    """Expected number of copies that some token uses."""
    if not tokens or tensor.copies == tensor.used:
        return Fraction(tensor.copies if tokens else 0)
    missed = Fraction(tensor.copies - tensor.used, tensor.copies)
    return tensor.copies * (1 - missed**tokens)
