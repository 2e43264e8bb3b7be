"""A second count of everything, as plain as it can be: layer by layer, query by query.

It reads a description's tree and knows nothing of txcalc.  Products of a tensor with a token's
vector, and of queries with the keys that they see, are counted one at a time; nothing is a formula
in the number of layers or of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

Tree = dict[str, Any]
ROLES = ("attention", "cross_attention", "ffn")
BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1, "int4": Fraction(1, 2)}


class Tensor(NamedTuple):
    """``copies`` of a tensor, ``used`` by one token; a matmul maps ``inside`` to ``out``."""

    where: str
    use: str
    out: int
    inside: int = 1
    copies: int = 1
    used: int = 1
    of_source: bool = False

    @property
    def size(self) -> int:
        """Elements of all copies."""
        return self.out * self.inside * self.copies


class Counted:
    """The counts of one description."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.d = tree["d_model"]
        self.stacks = {"encoder": tree.get("encoder"), "decoder": tree.get("layers")}
        self.stacks = {name: stack for name, stack in self.stacks.items() if stack is not None}
        self.letters = {"d_model": self.d, "vocab": tree["vocab"]}

    # What there is.

    def layers(self, stack: str) -> Iterator[tuple[str, Tree]]:
        """Each layer's block in order."""
        plan = self.stacks[stack]
        first, last = plan.get("first", []), plan.get("last", [])
        middle = plan["count"] - len(first) - len(last)
        repeated = [plan["pattern"][i % len(plan["pattern"])] for i in range(middle)]
        for name in [*first, *repeated, *last]:
            yield name, self.tree["blocks"][name]

    def part(self, block: Tree, role: str) -> Tree | None:
        """A sub-layer's fields, its own or shared."""
        found = block.get(role)
        shared: Tree | None = self.tree["parts"][found] if isinstance(found, str) else found
        return shared

    def norm(self, where: str, kind: str, width: int) -> list[Tensor]:
        """No tensor, one, or with LayerNorm two."""
        each = {"none": 0, "rms": 1, "layer_no_bias": 1, "layer": 2}[kind]
        return [Tensor(where, "norm", width)] * each

    def heads(self, part: Tree) -> tuple[int, int, int, int]:
        """Query heads, KV heads, and the widths of a query and of a value."""
        heads = part["n_heads"]
        dim = part.get("head_dim") or self.d // heads
        return heads, part.get("n_kv_heads", heads), dim, part.get("v_dim", dim)

    def attention(self, where: str, part: Tree, *, cross: bool) -> list[Tensor]:
        """q, k, v, o, their biases, and the norms of queries and keys."""
        heads, kv, dim, v_dim = self.heads(part)
        bias = part.get("bias", False)
        biased = "qkvo" if bias is True else bias or ""
        tensors = [
            Tensor(where, "matmul", heads * dim, self.d),
            Tensor(where, "matmul", kv * dim, self.d, of_source=cross),
            Tensor(where, "matmul", kv * v_dim, self.d, of_source=cross),
            Tensor(where, "matmul", self.d, heads * v_dim),
        ]
        sizes = {"q": heads * dim, "k": kv * dim, "v": kv * v_dim, "o": self.d}
        tensors += [Tensor(where, "bias", size) for name, size in sizes.items() if name in biased]
        match part.get("qk_norm", "none"):
            case "head":
                tensors += [Tensor(where, "norm", dim)] * 2
            case "width":
                tensors += [Tensor(where, "norm", heads * dim), Tensor(where, "norm", kv * dim)]
        return tensors

    def network(self, width: int, gated: bool, bias: bool, copies: int, used: int) -> list[Tensor]:
        """Gate, up and down."""
        shapes = [(width, self.d)] * (2 if gated else 1) + [(self.d, width)]
        found = [Tensor("ffn", "matmul", o, i, copies, used) for o, i in shapes]
        return found + [Tensor("ffn", "bias", o, 1, copies, used) for o, _ in shapes] * bias

    def ffn(self, part: Tree) -> list[Tensor]:
        """One network, or a router and many."""
        bias = part.get("bias", False)
        if part["kind"] != "moe":
            return self.network(part["d_ff"], part["kind"] == "glu", bias, 1, 1)
        experts, wide = part["n_experts"], part["d_expert"]
        gated = part.get("expert", "glu") == "glu"
        found = [Tensor("ffn", "matmul", experts, self.d)]
        found += [Tensor("ffn", "bias", experts)] * part.get("router_bias", False)
        found += self.network(wide, gated, bias, experts, part["top_k"])
        if shared := part.get("n_shared"):
            bias = part.get("shared_bias", False)
            found += self.network(part.get("d_shared", wide), gated, bias, shared, shared)
        return found

    def block(self, block: Tree) -> list[Tensor]:
        """All tensors of one layer."""
        found: list[Tensor] = []
        roles = [role for role in ROLES if block.get(role) is not None]
        for role in roles:
            part = self.part(block, role)
            assert part is not None
            found += (
                self.ffn(part)
                if role == "ffn"
                else self.attention(role, part, cross=role == "cross_attention")
            )
        norms = {
            "pre": len(roles), "post": len(roles), "sandwich": 2 * len(roles), "parallel": 1,
            "parallel_two_norms": len(roles),
        }[block.get("placement", "pre")]  # fmt: skip
        found += self.norm("norms", block["norm"], self.d) * norms
        for tensor in block.get("tensors", {}).values():
            dims = [self.letters.get(dim, dim) for dim in tensor["dims"]]
            found.append(
                Tensor("tensors", "matmul", *dims)
                if tensor["use"] == "matmul"
                else Tensor("tensors", tensor["use"], prod(dims))
            )
        return found

    def embedding(self) -> list[Tensor]:
        """Tables and norms before the layers."""
        found = [Tensor("tokens", "lookup", self.tree["vocab"], self.d)]
        for stack in self.stacks.values():
            positions = stack.get("positions") or {}
            match positions.get("kind"):
                case "learned":
                    found.append(Tensor("positions", "lookup", positions["n_positions"], self.d))
                case "relative":
                    n_buckets, n_heads = positions["n_buckets"], positions["n_heads"]
                    found.append(Tensor("positions", "lookup", n_buckets, n_heads))
            if types := stack.get("token_types"):
                found.append(Tensor("types", "lookup", types, self.d))
            found += self.norm("norm", stack.get("embedding_norm", "none"), self.d)
        return found

    def final_norm(self) -> list[Tensor]:
        """Norms after the last layers."""
        kinds = [stack.get("final_norm", "none") for stack in self.stacks.values()]
        return [norm for kind in kinds for norm in self.norm("norm", kind, self.d)]

    def head(self) -> list[Tensor]:
        """The products of the head, a tied one too: see :meth:`tied`."""
        head = self.tree.get("head")
        if head is None:
            return []
        found = [Tensor("output", "matmul", self.tree["vocab"], self.d)]
        found += [Tensor("output", "bias", self.tree["vocab"])] * head.get("bias", False)
        if (transform := head.get("transform")) is not None:
            found += [Tensor("transform", "matmul", self.d, self.d)]
            found += [Tensor("transform", "bias", self.d)]
            found += self.norm("transform", transform, self.d)
        return found

    def tied(self) -> int:
        """Elements of the head that are stored with the embedding."""
        head = self.tree.get("head")
        return self.tree["vocab"] * self.d if head and head["tied"] else 0

    # Parameters.

    def parameters(self) -> dict[str, int]:
        """Sums as ``params`` names them."""
        blocks = [t for stack in self.stacks for _, b in self.layers(stack) for t in self.block(b)]
        sums = {
            "params.embedding": sum(t.size for t in self.embedding()),
            "params.blocks": sum(t.size for t in blocks),
            "params.final_norm": sum(t.size for t in self.final_norm()),
            "params.head": sum(t.size for t in self.head()) - self.tied(),
        }
        unused = sum(t.out * t.inside * (t.copies - t.used) for t in blocks)
        sums["params.total"] = sum(sums.values())
        sums["params.active"] = sums["params.total"] - unused
        for name, block in self.tree["blocks"].items():
            sums |= self._components(f"params.block.{name}", self.block(block))
        return sums

    def _components(self, address: str, tensors: list[Tensor]) -> dict[str, int]:
        sums = {address: sum(t.size for t in tensors)}
        for component in (*ROLES, "norms"):
            sums[f"{address}.{component}"] = sum(t.size for t in tensors if t.where == component)
        for component in (*ROLES, ""):
            for name, use in (("matmul", "matmul"), ("biases", "bias")):
                sums[f"{address}.{component}.{name}".replace("..", ".")] = sum(
                    t.size for t in tensors if t.use == use and component in (t.where, "")
                )
        return sums

    # Operations.

    def seen(self, scores: str, tokens: int, window: int | None, *, both_sides: bool) -> int:
        """Query-key pairs of a whole pass over one sequence."""
        pairs = 0
        for query in range(tokens):
            match scores:
                case "none":
                    keys = 0
                case "square":
                    keys = tokens
                case "full":
                    keys = tokens if window is None else min(tokens, window)
                case _ if both_sides:
                    side = tokens if window is None else (window - 1) // 2
                    keys = sum(abs(query - key) <= side for key in range(tokens))
                case _:
                    reach = tokens if window is None else window
                    keys = sum(0 <= query - key < reach for key in range(tokens))
            pairs += keys
        return pairs

    def work(
        self, phase: str, ctx: int, source: int, batch: int, scores: str, logits: str = "all"
    ) -> tuple[dict[str, int | Fraction], int | Fraction]:
        """FLOPs of each block kind by component, and of the head."""
        times = 3 if phase == "train" else 1
        found: dict[str, int | Fraction] = {}
        for stack in self.stacks:
            for name, block in self.layers(stack):
                if f"flops.block.{name}" not in found:
                    costs = self._block_work(block, stack, phase, ctx, source, batch, scores)
                    for part, cost in costs.items():
                        found[f"flops.block.{name}{part}"] = times * cost
        positions = {"token": 1, "decode": batch}.get(
            phase, batch * ctx if logits == "all" else batch
        )
        head = sum(2 * t.out * t.inside * positions for t in self.head() if t.use == "matmul")
        return found, times * head

    def _block_work(
        self, block: Tree, stack: str, phase: str, ctx: int, source: int, batch: int, scores: str
    ) -> dict[str, int | Fraction]:
        """One layer's FLOPs by component."""
        stepping = phase in ("token", "decode")
        encoder = stack == "encoder"
        length = source if encoder and len(self.stacks) == 2 else ctx
        if encoder and stepping:
            tokens = 0
        else:
            tokens = {"token": 1, "decode": batch}.get(phase, batch * length)
        costs: dict[str, int | Fraction] = dict.fromkeys(
            ("", ".projections", ".scores", ".attention", ".cross_attention", ".ffn", ".matmul"), 0
        )
        for tensor in self.block(block):
            if tensor.use != "matmul":
                continue
            given = (0 if stepping else batch * source) if tensor.of_source else tokens
            cost = 2 * tensor.out * tensor.inside * tensor.used * given
            places = ["", ".matmul"]
            if tensor.where in ROLES:
                places.append(f".{tensor.where}")
            if tensor.where == "attention":
                places.append(".projections")
            for place in places:
                costs[place] += cost
        for role in ("attention", "cross_attention"):
            part = self.part(block, role)
            if part is None:
                continue
            heads, _, dim, v_dim = self.heads(part)
            if role == "cross_attention":
                pairs: int | Fraction = 0 if scores == "none" else tokens * source
            elif encoder:
                passes = 0 if stepping else batch
                pairs = passes * self.seen(scores, length, part.get("window"), both_sides=True)
            else:
                pairs = self._pairs(phase, ctx, batch, scores, part.get("window"))
            cost = 2 * heads * (dim + v_dim) * pairs
            costs[""] += cost
            costs[f".{role}"] += cost
            if role == "attention":
                costs[".scores"] += cost
        return costs

    def _pairs(
        self, phase: str, ctx: int, batch: int, scores: str, window: int | None
    ) -> int | Fraction:
        """A decoder's own query-key pairs."""
        one_step = 0 if scores == "none" else ctx if window is None else min(ctx, window)
        whole = self.seen(scores, ctx, window, both_sides=False)
        match phase:
            case "decode":
                return batch * one_step
            case "token":
                return Fraction(whole, ctx)
            case _:
                return batch * whole

    def blocks_work(self, *question: Any, stacks: tuple[str, ...] = ("encoder", "decoder")) -> Any:
        """FLOPs of all layers."""
        found, _ = self.work(*question)
        return sum(
            found[f"flops.block.{name}"]
            for stack in stacks
            if stack in self.stacks
            for name, _ in self.layers(stack)
        )

    # State.

    def cache(self, ctx: int, source: int, element: int | Fraction) -> dict[str, int | Fraction]:
        """Bytes that one sequence keeps."""
        token, growth, cross, own = 0, 0, 0, 0
        for _, block in self.layers("decoder") if "decoder" in self.stacks else ():
            if part := self.part(block, "attention"):
                _, kv, *widths = self.heads(part)
                window = part.get("window") or ctx + 1
                token += kv * sum(widths)
                growth += kv * sum(widths) * (min(ctx + 1, window) - min(ctx, window))
                own += kv * sum(widths) * min(ctx, window)
            if part := self.part(block, "cross_attention"):
                _, kv, *widths = self.heads(part)
                cross += kv * sum(widths) * source
        kept = {
            "token": token,
            "growth": growth,
            "fixed": 0,
            "cross": cross,
            "sequence": own + cross,
        }
        return {f"kvcache.{name}": count * element for name, count in kept.items()}

    # Traffic.

    def distinct(self, tensor: Tensor, tokens: int) -> Fraction:
        """Expected number of copies that some token uses."""
        if tensor.copies == tensor.used:
            return Fraction(tensor.copies)
        missed = Fraction(tensor.copies - tensor.used, tensor.copies)
        return tensor.copies * (1 - missed**tokens)

    def intensity(
        self,
        phase: str,
        ctx: int,
        source: int,
        batch: int,
        weight: int | Fraction,
        cache: int | Fraction,
        activation: int | Fraction,
    ) -> tuple[Fraction, Fraction]:
        """FLOPs over weight bytes, and all FLOPs over all bytes."""
        stepping = phase == "decode"
        found, head = self.work(phase, ctx, source, batch, "full")
        products, everything = Fraction(head), Fraction(head)
        read, passed = Fraction(0), Fraction(0)
        positions = batch if stepping else batch * ctx
        for tensor in self.head():
            if tensor.use == "matmul":
                read += tensor.out * tensor.inside
                passed += (tensor.out + tensor.inside) * positions
        for stack in self.stacks:
            for name, block in self.layers(stack):
                products += found[f"flops.block.{name}.matmul"]
                everything += found[f"flops.block.{name}"]
                encoder = stack == "encoder"
                length = source if encoder and len(self.stacks) == 2 else ctx
                tokens = batch * length if not stepping else 0 if encoder else batch
                for tensor in self.block(block):
                    if tensor.use != "matmul":
                        continue
                    given = (0 if stepping else batch * source) if tensor.of_source else tokens
                    if given:
                        read += tensor.out * tensor.inside * self.distinct(tensor, given)
                    passed += given * tensor.used * (tensor.out + tensor.inside)
                for role in ("attention", "cross_attention"):
                    if part := self.part(block, role):
                        heads, kv, *widths = self.heads(part)
                        passed += tokens * heads * sum(widths)
                        passed += tokens * kv * sum(widths) * encoder
        kept = self.cache(ctx, source, cache)
        moved = kept["kvcache.sequence"] + kept["kvcache.token"] * (1 if stepping else ctx)
        moved += 0 if stepping else kept["kvcache.cross"]
        traffic = read * weight + passed * activation + batch * moved
        return products / (read * weight), everything / traffic
