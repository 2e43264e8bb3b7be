"""Feed-forward networks, alone and as experts."""

from __future__ import annotations

from fractions import Fraction

from tests.support.counting.rows import Kept, Part, Place, Tensor, Tree, learned, linear


def network(
    wide: int, narrow: int, gated: bool, bias: bool, copies: int = 1, used: int | Fraction = 1
) -> list[Tensor]:
    """Gate, up and down."""
    tensors: list[Tensor] = []
    for _ in ("gate", "up") if gated else ("up",):
        tensors += linear(wide, narrow, bias, copies=copies, used=used)
    return tensors + linear(narrow, wide, bias, copies=copies, used=used)


def dense(part: Tree, place: Place) -> Part:
    """arXiv:1706.03762 section 3.3; with a gate arXiv:2002.05202."""
    gated = part["kind"] == "glu"
    return Part(network(part["d_ff"], place.d_model, gated, part.get("bias", False)))


def mixture(part: Tree, place: Place) -> Part:
    """arXiv:1701.06538; of experts without weights a token uses their share (arXiv:2509.01322)."""
    d_model, experts, wide = place.d_model, part["n_experts"], part["d_expert"]
    gated = part.get("expert", "glu") == "glu"
    empty = part.get("n_zero", 0)
    of_all, used = experts + empty, Fraction(part["top_k"] * experts, experts + empty)
    tensors = linear(of_all, d_model) if part.get("router", True) else []
    if bias := part.get("router_bias"):
        tensors.append(Tensor("buffer" if bias == "buffer" else "bias", of_all))
    narrow = part.get("d_latent", d_model)
    shared_bias = part.get("shared_bias", False)
    if "d_latent" in part:
        tensors += linear(narrow, d_model, shared_bias) + linear(d_model, narrow, shared_bias)
    tensors += network(wide, narrow, gated, part.get("bias", False), experts, used)
    if empty and part.get("zero_weights"):
        tensors += [Tensor("elementwise", wide, narrow, copies=empty, used=0)] * 2
    if shared := part.get("n_shared"):
        tensors += network(part.get("d_shared", wide), d_model, gated, shared_bias, shared, shared)
    if gate := part.get("shared_gate"):
        tensors += linear(shared if gate == "each" and shared else 1, d_model)
    return Part(tensors)


def channel_mixing(part: Tree, place: Place) -> Part:
    """arXiv:2305.13048 section 3.1: a plain network behind a gate, and the token before."""
    d_model, d_ff = place.d_model, part["d_ff"]
    tensors = linear(d_ff, d_model) + linear(d_model, d_ff) + linear(d_model, d_model)
    return Part(tensors + learned(d_model, d_model), [], [], [Kept(d_model, span="fixed")])


KINDS = {"plain": dense, "glu": dense, "moe": mixture, "channel_mixing": channel_mixing}
