"""Derivations as data: a list of nodes, operands first, that an interpreter runs elsewhere.

Nodes are shared by operation and operands, whatever derivation they stand in.  A node is the text
of a constant, or a list of an operation and its operands: ``["product", 3, 7]``, which are nodes
before it; ``["input", 0]`` is the number of an input.  A defined letter is the node of its
definition.  ``["first", 5, 8, 9]`` is the least whole number of the node 5, ``["bound"]``, at which
node 8 reaches node 9.
"""

from __future__ import annotations

from collections.abc import Callable

from txcalc.exact.operations import ARITHMETIC, FUNCTIONS
from txcalc.exact.quantity import Letter, Number, Quantity

Node = str | tuple[str, *tuple[int, ...]]
OPERATIONS = (
    "input",
    "bound",
    *(name for name in ARITHMETIC if name not in ("const", "letter")),
    *(function.name for function in FUNCTIONS),
)
"""What stands first in a node: an interpreter knows each of them."""


class Program:
    """Collects nodes; ``key`` names the input that a letter without a definition is."""

    def __init__(self, key: Callable[[Letter], str]) -> None:
        self.nodes: list[Node] = []
        self.inputs: dict[str, Number] = {}
        self._key = key
        self._places: dict[object, int] = {}
        self._known: dict[int, tuple[Quantity, int]] = {}

    def node(self, quantity: Quantity) -> int:
        """The place of a quantity among the nodes, its operands before it."""
        if id(quantity) not in self._known:
            self._known[id(quantity)] = quantity, self._made(quantity)
        return self._known[id(quantity)][1]

    def _made(self, quantity: Quantity) -> int:
        if isinstance(quantity, Letter):
            return self._letter(quantity)
        if quantity.op == "const":
            return self._place(str(quantity.value))
        if quantity.op == "first":
            bound = self._place(("bound",), quantity.args[0])
            self._known[id(quantity.args[0])] = quantity.args[0], bound
        args = tuple(map(self.node, quantity.args))
        if quantity.op == "product" and len(args) == 1:
            return args[0]
        return self._place((str(quantity.op), *args))

    def _letter(self, letter: Letter) -> int:
        if letter.definition is not None:
            return self.node(letter.definition)
        key = self._key(letter)
        number = list(self.inputs).index(key) if key in self.inputs else len(self.inputs)
        self.inputs.setdefault(key, letter.value)
        return self._place(("input", number))

    def _place(self, node: Node, identity: object = None) -> int:
        """The place of a node, which is one for all that are equal and of one ``identity``."""
        known = node, id(identity)
        if known not in self._places:
            self._places[known] = len(self.nodes)
            self.nodes.append(node)
        return self._places[known]
