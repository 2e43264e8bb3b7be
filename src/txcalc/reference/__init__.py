"""Models run with random weights, every multiply-add and every kept element counted (numpy)."""

from txcalc.reference.cache import Cache
from txcalc.reference.counter import Counter
from txcalc.reference.generation import Generation
from txcalc.reference.network import Network
from txcalc.reference.sampling import probabilities
from txcalc.reference.site import How

__all__ = ["Cache", "Counter", "Generation", "How", "Network", "probabilities"]
