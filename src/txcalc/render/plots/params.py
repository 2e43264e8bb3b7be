"""``plot params``: which components the parameters of models are in."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from txcalc.accounts.params import by_role
from txcalc.errors import OptionError
from txcalc.exact.quantity import Quantity
from txcalc.model.model import Model
from txcalc.model.rows import Role
from txcalc.page.components import COMPONENTS
from txcalc.render.plots.picture import Bar, Bars, Picture

MOST = 24


def params(models: Sequence[Model]) -> Picture:
    """A bar for each model, of the shares of its components.

    Raises:
        OptionError: more models than there is room for.
    """
    if len(models) > MOST:
        raise OptionError(f"{len(models):,} models are too many for a plot: at most {MOST}")
    sums = {model.name: _sums(by_role(model)) for model in models}
    named = [name for name in _ORDER if any(of[name] for of in sums.values())]
    lines = [
        ",".join(["model", *named]),
        *(",".join([model, *(str(of[name]) for name in named)]) for model, of in sums.items()),
    ]
    return Picture(
        title="Parameters by component",
        subtitle=", ".join(named),
        drawn=Bars(bars=[_bar(model, of) for model, of in sums.items()]),
        told="".join(f"{line}\n" for line in lines),
    )


_ORDER = dict(COMPONENTS.values())


def _sums(roles: dict[Role, Quantity]) -> dict[str, int]:
    sums = dict.fromkeys(_ORDER, 0)
    for role, quantity in roles.items():
        if quantity.value:
            sums[COMPONENTS[role][0]] += int(quantity.value)
    return sums


def _bar(model: str, sums: dict[str, int]) -> Bar:
    whole = sum(sums.values())
    parts = [
        (name, _ORDER[name], float(Fraction(count, whole))) for name, count in sums.items() if count
    ]
    return Bar(label=model, note=f"{whole:,}", parts=parts)
