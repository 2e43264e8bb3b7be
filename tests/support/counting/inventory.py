"""The layers of a description, and what stands before, beside and after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import prod

from tests.support.counting import ffn, latent, recurrent, softmax
from tests.support.counting.rows import Kept, Part, Place, Scan, Tensor, Tree, learned, linear, norm

ROLES = ("attention", "ssm", "cross_attention", "ffn")
KINDS: dict[str, Callable[[Tree, Place], Part]] = (
    softmax.KINDS | latent.KINDS | recurrent.KINDS | ffn.KINDS
)


class Inventory:
    """What one description has."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.d = tree["d_model"]
        stacks = {"encoder": tree.get("encoder"), "decoder": tree.get("layers")}
        self.stacks = {name: stack for name, stack in stacks.items() if stack is not None}
        self.main = "decoder" if "decoder" in self.stacks else "encoder"
        self.letters = {"d_model": self.d, "vocab": tree["vocab"]}
        self.part = cache(self._part)

    # Layers.

    def layers(self, stack: str) -> Iterator[str]:
        """The name of each layer's block in order."""
        plan = self.stacks[stack]
        first, last = plan.get("first", []), plan.get("last", [])
        middle = plan["count"] - len(first) - len(last)
        yield from first
        for i in range(middle):
            yield plan["pattern"][i % len(plan["pattern"])]
        yield from last

    def runs(self, stack: str) -> Iterator[str]:
        """The block of every layer that a pass goes through, loop by loop."""
        for name in self.layers(stack):
            for _ in range(self.tree["blocks"][name].get("loops", 1)):
                yield name

    def stored(self, stack: str) -> Iterator[str]:
        """The block of every layer with weights of its own: of shared ones the first."""
        seen = set()
        for name in self.layers(stack):
            if name not in seen or not self.tree["blocks"][name].get("shared"):
                yield name
            seen.add(name)

    def keeping(self, stack: str) -> Iterator[str]:
        """The block of every layer, or of every loop, that keeps a state."""
        for name in self.layers(stack):
            block = self.tree["blocks"][name]
            last = block.get("loop_state") == "last"
            for _ in range(1 if last else block.get("loops", 1)):
                yield name

    # One layer.

    def width(self, stack: str) -> int:
        """Channels of a stack's stream."""
        own: int = self.stacks.get(stack, {}).get("d_model", self.d)
        return own

    def sublayer(self, block: Tree, role: str) -> Tree | None:
        """A sub-layer's fields, its own or shared."""
        found = block.get(role)
        fields: Tree | None = self.tree["parts"][found] if isinstance(found, str) else found
        return fields

    def named(self, stack: str) -> list[str]:
        """The blocks that a stack names; its layers may be too few to reach some of them."""
        plan = self.stacks[stack]
        lists = ("first", "pattern", "last")
        return list(dict.fromkeys(name for field in lists for name in plan.get(field, [])))

    def stack_of(self, name: str) -> str:
        """The stack that names a block."""
        return next(stack for stack in self.stacks if name in self.named(stack))

    def _part(self, name: str) -> Part:
        """All that one layer has."""
        block, width = self.tree["blocks"][name], self.width(self.stack_of(name))
        roles = [role for role in ROLES if block.get(role) is not None]
        found = Part([])
        for role in roles:
            cross = role == "cross_attention"
            place = Place(width, self.width("encoder") if cross else width, cross)
            fields = self.sublayer(block, role)
            assert fields is not None
            found += KINDS[fields["kind"]](fields, place).at(role)
        branches = [r for r in roles if not (r == "ssm" and "attention" in roles)]
        norms = {
            "pre": len(branches), "post": len(branches), "output": len(branches),
            "sandwich": 2 * len(branches), "parallel": 1, "parallel_two_norms": len(branches),
        }[block.get("placement", "pre")]  # fmt: skip
        found += Part(norm(block["norm"], width) * norms).at("norms")
        residual = block.get("residual", {})
        for _ in branches if residual.get("kind") == "hyper" else ():
            found += _hyper(residual, width).at("residual")
        if residual.get("kind") == "altup":
            found += _altup(residual["n_copies"], width).at("residual")
        return found + self.declared(block.get("tensors", {}))

    def declared(self, tensors: Tree) -> Part:
        """Tensors that no part knows."""
        found, kept = [], []
        for fields in tensors.values():
            dims = [self.size(dim) for dim in fields["dims"]]
            copies = self.size(fields.get("copies", 1))
            given = {
                "copies": copies,
                "used": self.size(fields.get("used", copies)),
                "repeats": self.size(fields.get("repeats", 1)),
                "stream": fields.get("stream", "own"),
            }
            match fields["use"]:
                case "matmul":
                    found.append(Tensor("matmul", *dims, **given))
                case "conv":
                    channels, taps = dims
                    found.append(Tensor("matmul", channels, taps, reads=channels, **given))
                    kept.append(Kept(copies * channels * taps, span="fixed", fmt=fields.get("fmt")))
                case use:
                    found.append(Tensor(use, prod(dims), **given))
        return Part(found, [], [], kept).at("tensors")

    def size(self, size: int | str) -> int:
        """A number, or a letter of the whole model."""
        return self.letters[size] if isinstance(size, str) else size

    # Around the layers.

    def embedding(self) -> list[Tensor]:
        """Tables and norms before the layers, and the way from a table of another width."""
        embed = self.tree.get("embedding")
        table = embed["d_embed"] if embed else self.d
        found: list[Tensor] = []
        if not any("vocab" in stack for stack in self.stacks.values()):
            found.append(Tensor("lookup", self.tree["vocab"], table))
        for name, stack in self.stacks.items():
            width = table if embed and embed.get("all") else self.width(name)
            if "vocab" in stack:
                found.append(Tensor("lookup", stack["vocab"], width))
            positions = stack.get("positions") or {}
            match positions.get("kind"):
                case "learned":
                    found.append(Tensor("lookup", positions["n_positions"], width))
                case "relative":
                    found.append(Tensor("lookup", positions["n_buckets"], positions["n_heads"]))
            if types := stack.get("token_types"):
                found.append(Tensor("lookup", types, width))
            found += norm(stack.get("embedding_norm", "none"), width)
        return found + (linear(self.d, table, embed.get("bias", False)) if embed else [])

    def final_norm(self) -> list[Tensor]:
        """Norms after the last layers."""
        kinds = {name: stack.get("final_norm", "none") for name, stack in self.stacks.items()}
        return [t for name, kind in kinds.items() for t in norm(kind, self.width(name))]

    def head(self) -> list[Tensor]:
        """The products of the head, a tied one too: see :meth:`tied`."""
        head = self.tree.get("head")
        if head is None:
            return []
        narrow = self._read_by_the_head(head)
        found = linear(head.get("n_outputs", self.tree["vocab"]), narrow, head.get("bias", False))
        if (transform := head.get("transform")) is not None:
            found += linear(narrow, self.d, head.get("transform_bias", True))
            found += norm(transform, narrow)
        return found

    def tied(self) -> int:
        """Elements of the head that are stored with the embedding."""
        head = self.tree.get("head")
        if head is None or not head["tied"]:
            return 0
        outputs: int = head.get("n_outputs", self.tree["vocab"])
        return outputs * self._read_by_the_head(head)

    def _read_by_the_head(self, head: Tree) -> int:
        embed = self.tree.get("embedding")
        width: int = head.get("d_head") or (embed["d_embed"] if embed else self.d)
        return width


def _hyper(hyper: Tree, width: int) -> Part:
    """arXiv:2409.19606 and 2512.24880: weights to read and write each stream, and to mix them."""
    n, mixed = hyper["n_streams"], hyper.get("mixed", False)
    made = [n, n] + [n * n] * mixed
    tensors = linear(sum(made), n * width, bias=True) + learned(len(made))
    return Part(tensors, [], [Scan(n * n * width)] * mixed)


def _altup(n: int, width: int) -> Part:
    """arXiv:2301.13310 as in Gemma 3n: a router run twice, a prediction and a correction."""
    tensors = [Tensor("matmul", n, width, repeats=2), *norm("rms", width)]
    tensors += linear(n * n, n) + linear(n, n) + learned(width)
    return Part(tensors, [], [Scan(n * n * width)])
