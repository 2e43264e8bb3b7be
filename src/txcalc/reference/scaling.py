"""Large descriptions made small by one rule that keeps their structure.

Each list of layers keeps the first two of each kind.  Heads are divided by the largest number that
leaves whole groups and two of the fewest, widths of a head by 16, and all other widths by what
leaves about 32 of d_model, so that their ratios stay.  Windows and chunks become shorter than a
run, and a token uses as many experts as before, of four more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd, lcm
from typing import Any

LONGEST = 64
"""Tokens of a run at most."""
NARROWER = 16
"""What the width of a head is divided by."""
STREAM = 32
"""Channels that are left of d_model, where heads divide them evenly."""
ROWS = 61
"""Rows of a vocabulary at most."""
REACH = 4
"""Tokens of a window or a chunk at most."""
SPARE = 4
"""Experts that a token leaves unused, at most."""
LOOPS = 3
LENGTH = 7
"""Tokens that an encoder's inputs are padded to, at most."""

_HEADS = (("n_heads", "n_kv_heads"), ("n_ssm_heads", "n_groups"), ("n_k_heads", "n_v_heads"),
          ("n_gate_blocks",))  # fmt: skip
_OF_A_HEAD = (
    "head_dim", "v_dim", "nope_dim", "rope_dim", "k_dim", "ssm_head_dim", "d_state", "gate_dim",
    "width",
)  # fmt: skip
_WIDTHS = (
    "d_model", "d_embed", "d_head", "d_ff", "d_expert", "d_shared", "d_latent", "d_inner",
    "dt_rank", "q_rank", "kv_rank", "gate_rank",
)  # fmt: skip
_MOST = {"vocab": ROWS, "n_outputs": ROWS, "context": LONGEST + 1, "n_positions": LONGEST + 1,
         "window": REACH, "chunk": REACH, "loops": LOOPS, "length": LENGTH}  # fmt: skip

Tree = dict[str, Any]


class Scaled:
    """The ``tree`` of a description with smaller sizes; ``changes`` say which, before and after."""

    def __init__(self, tree: Tree) -> None:
        self._divisors = {
            name: divisor for names in _HEADS for name, divisor in _divisors(tree, names).items()
        }
        self._heads = self._divisors.get("n_heads", 1)
        self._narrower = max(1, int(tree["d_model"]) // STREAM)
        self._whole = 2 * lcm(*(self._n_heads(node) for node in _nodes(tree) if _is_unstated(node)))
        self.changes: dict[tuple[str, int, int], None] = {}
        self.tree: Tree = self._mapping(tree)

    def _mapping(self, node: Mapping[str, Any]) -> Tree:
        made = {key: self._value(key, value) for key, value in node.items()}
        if "pattern" in node:
            made |= self._stack(node)
        if "kept" in node:
            made["kept"] = max(1, made["window"] - node["window"] + node["kept"])
        if "n_experts" in node and isinstance(node.get("top_k"), int):
            made["n_experts"] = min(node["n_experts"], node["top_k"] + SPARE)
        if "gate_dim" in node:
            made["d_inner"] = made["n_gate_blocks"] * made["gate_dim"]
        for name in ("d_qk", "d_v"):
            if name in node:
                made[name] = made["n_heads"] * self._of_a_head(node[name] // node["n_heads"])
        for key, value in node.items():
            if isinstance(value, int) and made[key] != value:
                self.changes[key, value, made[key]] = None
        return made

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._mapping(value)
        if key == "dims":
            return [self._dimension(size) for size in value]
        if not isinstance(value, int) or isinstance(value, bool):
            return value
        if key in self._divisors:
            return value // self._divisors[key]
        if key in _OF_A_HEAD:
            return self._of_a_head(value)
        if key == "d_model":
            return -(-self._width(value) // self._whole) * self._whole
        if key in _WIDTHS:
            return self._width(value)
        return min(value, _MOST.get(key, value))

    def _of_a_head(self, width: int) -> int:
        return min(width, max(2, -(-width // NARROWER)))

    def _width(self, width: int) -> int:
        return min(width, max(2, -(-width // self._narrower)))

    def _dimension(self, size: Any) -> Any:
        """A size of a tensor that no part knows; one by name follows what it names."""
        return self._width(size) if isinstance(size, int) and size > NARROWER else size

    def _n_heads(self, node: Mapping[str, Any]) -> int:
        return int(node["n_heads"]) // self._heads

    def _stack(self, stack: Mapping[str, Any]) -> Tree:
        """The lists of layers and their count: the pattern once, and one layer more."""
        lists = {key: _firsts(stack.get(key, [])) for key in ("first", "pattern", "last")}
        count = sum(map(len, lists.values())) + 1
        return {key: kinds for key, kinds in lists.items() if key in stack} | {
            "count": min(stack["count"], count)
        }


def _firsts(kinds: Sequence[str]) -> list[str]:
    """The first two of each kind, in their order."""
    return [kind for i, kind in enumerate(kinds) if kinds[:i].count(kind) < 2]


def _divisors(tree: Tree, names: Sequence[str]) -> dict[str, int]:
    """What numbers of heads are divided by, one divisor for all of a family."""
    counts = [
        node[name] for node in _nodes(tree) for name in names if isinstance(node.get(name), int)
    ]
    if not counts:
        return {}
    common = gcd(*counts)
    divisor = max(
        d for d in range(1, common + 1) if common % d == 0 and (min(counts) // d >= 2 or d == 1)
    )
    return dict.fromkeys(names, divisor)


def _is_unstated(node: Mapping[str, Any]) -> bool:
    """Whether heads divide the stream among them."""
    return node.get("kind") in ("mha", "gqa") and "head_dim" not in node


def _nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping of a tree."""
    if isinstance(node, dict):
        yield node
        for below in node.values():
            yield from _nodes(below)
