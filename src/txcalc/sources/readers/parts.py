"""Parts by the keys that most decoders have for them: attention, FFNs, windows, biases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import dense, given, tensor


def attention(
    c: Config,
    *,
    head_dim: int | None = None,
    kv_default: int | None = None,
    bias: bool | list[str] | None = None,
    window: int | None = None,
    **more: Any,
) -> Tree:
    """Multi-head or grouped-query attention by today's usual keys.

    ``kv_default`` is the KV heads of a file that leaves them out (None: as many as query heads),
    ``head_dim`` the width of a head where the file leaves it out (None: d_model / n_heads, rounded
    down).  A null says that the key has no default of its own.  ``bias`` is by default what the
    flag attention_bias says.
    """
    heads = c.size("num_attention_heads")
    kv_default = None if c.null("num_key_value_heads") else kv_default
    kv_heads = c.size("num_key_value_heads", default=kv_default or heads)
    stated = c.maybe("head_dim") or (None if c.null("head_dim") else head_dim)
    uneven = stated is None and c.size("hidden_size") % heads
    part = mha(heads, kv_heads)
    if stated is not None or uneven:
        part["head_dim"] = stated or c.size("hidden_size") // heads
    if bias is None:
        bias = c.flag("attention_bias", default=False)
    return part | given(bias=bias, window=window, **more)


def mha(heads: int, kv_heads: int | None = None, **fields: Any) -> Tree:
    """Multi-head attention, or grouped-query attention where it has other KV heads."""
    if kv_heads in (None, heads):
        return {"kind": "mha", "n_heads": heads} | given(**fields)
    return {"kind": "gqa", "n_heads": heads, "n_kv_heads": kv_heads} | given(**fields)


def attentions(c: Config, keys: int | None, **more: Any) -> dict[str, Tree]:
    """Attention with all keys and with a window of ``keys``, as mixers of a grid of blocks."""
    windows = {"full": None, "sliding": keys}
    return {
        name: {"attention": attention(c, window=size, **more)} for name, size in windows.items()
    }


def biased(
    c: Config, of: Iterable[str], key: str = "attention_bias", *, default: bool
) -> list[str]:
    """The projections ``of``, by their letters, where the flag ``key`` gives them a bias."""
    return list(of) if c.flag(key, default=default) else []


def glu(c: Config, *, width: str = "intermediate_size", bias: bool | str = False) -> Tree:
    """A gated FFN; ``bias`` may be the flag that says whether it has any, by default not."""
    return {"kind": "glu", "d_ff": c.size(width)} | given(bias=_said(c, bias))


def plain(c: Config, *, width: str = "intermediate_size", bias: bool | str = False) -> Tree:
    """An FFN of two matrices; ``bias`` as for a gated one."""
    return {"kind": "plain", "d_ff": c.size(width)} | given(bias=_said(c, bias))


def _said(c: Config, bias: bool | str) -> bool:
    return c.flag(bias, default=False) if isinstance(bias, str) else bias


def window(c: Config, default: int | None = None, *names: str) -> int | None:
    """The keys a query attends to; none where the file says null."""
    names = names or ("sliding_window",)
    absent = not any(c.null(name) for name in names)
    return c.maybe(*names) or (default if absent else None)


def learned(c: Config, more: int = 0, default: int | None = None) -> Tree:
    """A table of positions, with some rows beyond those that the file states."""
    rows = c.size("max_position_embeddings", default=default)
    return {"kind": "learned", "n_positions": rows + more if more else rows}


def global_projections() -> Tree:
    """Projections of the tokens to which all others attend, arXiv:2004.05150."""
    names = [f"global_{name}" for name in "qkv"]
    return {key: row for n in names for key, row in dense(n, "d_model", "d_model").items()}


def idle_cross_attention(c: Config, *, bias: bool = True) -> Tree:
    """Cross-attention that a decoder has by flag, and that nothing runs without an encoder."""
    if not c.flag("add_cross_attention", default=False):
        return {}
    idle = {f"cross_{name}": tensor("matmul", "d_model", "d_model") for name in "qkvo"}
    for name in "qkvo" if bias else "o":
        idle[f"cross_{name}_bias"] = tensor("bias", "d_model")
    for name in ("cross_norm", "cross_norm_bias"):
        idle[name] = tensor("norm", "d_model")
    return {"tensors": {name: row | {"stream": "none"} for name, row in idle.items()}}
