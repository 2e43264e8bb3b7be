"""A second count of everything, as plain as it can be: layer by layer, query by query.

It reads a description's tree and shares no code with txcalc.  Products of a tensor with a token's
vector, queries with the keys that they attend to, and the tokens that a cache keeps are counted one
at a time; nothing is a formula in the number of layers or of tokens.

``rows`` what a part is made of; ``softmax``, ``latent``, ``recurrent`` and ``ffn`` the kinds of
parts; ``inventory`` the layers and what stands around them; ``keys`` what a query attends to;
``state`` what a cache keeps; ``counted`` the sums.
"""

from tests.support.counting.counted import Counted
from tests.support.counting.inventory import ROLES
from tests.support.counting.rows import BYTES, Run, Tensor, Tree

__all__ = ["BYTES", "ROLES", "Counted", "Run", "Tensor", "Tree"]
