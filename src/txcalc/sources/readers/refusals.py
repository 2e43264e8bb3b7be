"""What types refuse: shapes and flags that their classes do not know."""

from __future__ import annotations

from txcalc.sources.readers.config import Config


def refuse_uneven_heads(c: Config) -> None:
    """Refuses heads that do not divide d_model, where no width of theirs is stated."""
    d_model, heads = c.size("hidden_size"), c.size("num_attention_heads")
    if d_model % heads and not c.has("head_dim"):
        c.refuse("hidden_size", f"{d_model} is no multiple of {heads} num_attention_heads")


def refuse_other_head_dim(c: Config) -> None:
    """Refuses heads of another width than d_model / n_heads, where a class knows no other."""
    derived = c.size("hidden_size") // c.size("num_attention_heads")
    stated = c.maybe("head_dim")
    if stated not in (None, derived):
        c.refuse(
            "head_dim", f"{stated}, but heads of this type are {derived} wide, a part of d_model"
        )


def refuse_flags(c: Config, *names: str) -> None:
    """Refuses flags that a type has in some files, but that mean something only where false."""
    for name in names:
        if c.flag(name, default=False):
            c.unsupported(f"{name} true of type {c.type!r}")


def refuse_false(c: Config, *names: str) -> None:
    """Refuses flags that mean something only where true, as they are by default."""
    for name in names:
        if not c.flag(name, default=True):
            c.unsupported(f"{name} false of type {c.type!r}")
