"""Softmax attention with a key and value head for each query head, or for each group of them."""

from __future__ import annotations

from txcalc.model.parts.attention import GroupedQuery, MultiHead
from txcalc.model.parts.cca import CompressedConvolutional
from txcalc.reference.attend import attend, attend_source
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import refuse, run, sigmoid
from txcalc.reference.site import Site, Size, number

_WITHOUT = ("indexer", "differential", "merged", "d_in")


@run.register
def _(part: MultiHead, x: Array, site: Site) -> Array:
    """arXiv:1706.03762 section 3.2.2; arXiv:2305.13245."""
    _refuse(part)
    width = _width(part, x)
    q = site.linear("q", x, part.n_heads, width, bias=_biased(part, "q"))
    q = _normed(part, "q_norm", q, site)
    sinks = site.weight("sinks", part.n_heads) if part.sinks else None
    if site.role == "cross_attention":
        out = attend_source(site, "scores", q, *_of_source(part, width, site), sinks=sinks)
    else:
        keys, values = _own(part, width, x, site)
        out = attend(site, "scores", site.places.rotated(q), keys, values,
                     window=part.window, chunk=part.chunk, sinks=sinks)  # fmt: skip
    return _joined(part, x, out, site)


def _joined(part: MultiHead, x: Array, out: Array, site: Site) -> Array:
    """The heads' outputs, gated where they are, projected to the stream."""
    if part.gated:
        widths = (part.n_heads,) if part.gated == "head" else (part.n_heads, out.shape[-1])
        gate = sigmoid(site.linear("gate", x, *widths, bias=_biased(part, "gate")))
        out = out * (gate[..., None] if part.gated == "head" else gate)
    return site.linear("o", out, x.shape[-1], bias=_biased(part, "o"), inputs=2)


def _own(part: MultiHead, width: Size, x: Array, site: Site) -> tuple[Array, Array]:
    """Keys and values of the stack's own tokens, or those that an earlier layer keeps."""
    reach = None if part.window is None else part.window.value
    if part.shares_kv:
        if reach not in site.shared:
            refuse("attention", "shares_kv and no earlier layer of its reach that keeps keys")
        return site.shared[reach]
    k, v = _projected(part, width, x, site)
    most = part.kept or part.window or part.chunk
    k = site.extended("keys", site.places.rotated(k), most)
    v = site.extended("values", v, most)
    site.shared[reach] = k, v
    return k, v


def _of_source(part: MultiHead, width: Size, site: Site) -> tuple[Array, Array]:
    """Keys and values of the encoder's tokens, made once a sequence."""
    if site.source is not None:
        k, v = _projected(part, width, site.source, site)
        site.keep("keys", k)
        site.keep("values", v)
        return k, v
    k_kept, v_kept = site.kept("keys"), site.kept("values")
    assert k_kept is not None
    assert v_kept is not None
    return k_kept, v_kept


def _projected(part: MultiHead, width: Size, x: Array, site: Site) -> tuple[Array, Array]:
    """Keys, normalised but not rotated, and values."""
    heads = part.n_kv_heads if isinstance(part, GroupedQuery) else part.n_heads
    k = site.linear("k", x, heads, width, bias=_biased(part, "k"))
    if part.k_is_v:
        return _normed(part, "k_norm", k, site), k
    v = site.linear("v", x, heads, part.v_dim or width, bias=_biased(part, "v"))
    return _normed(part, "k_norm", k, site), v


def _normed(part: MultiHead, name: str, x: Array, site: Site) -> Array:
    """Queries or keys, normalised head by head or over all channels."""
    if part.qk_norm == "none":
        return x
    return site.norm(name, x, part.qk_norm_kind, axes=2 if part.qk_norm == "width" else 1)


def _width(part: MultiHead, x: Array) -> Size:
    """Channels of one head."""
    return x.shape[-1] // number(part.n_heads) if part.head_dim is None else part.head_dim


def _biased(part: MultiHead, projection: str) -> bool:
    return part.bias if isinstance(part.bias, bool) else projection in part.bias


def _refuse(part: MultiHead) -> None:
    kind = str(part.__struct_config__.tag)
    if isinstance(part, CompressedConvolutional):
        refuse(kind)
    for field in _WITHOUT:
        if getattr(part, field) not in (None, False):
            refuse(kind, field)
