"""The tables of the pages that txcalc itself can tell: commands, options, fields of model files.

A page holds them between ``<!-- NAME -->`` and ``<!-- end of NAME -->``; see ``refresh_docs.py``.
"""

import inspect
from collections.abc import Iterator
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec


def _commands() -> list[Any]:
    from typer.main import get_command

    from txcalc.cli.app import application

    return [*get_command(application([])).commands.values()]


def commands() -> str:
    """Every command with its arguments, and what it says of itself."""
    rows = []
    for command in _commands():
        arguments = [p.metavar for p in command.params if p.param_type_name == "argument"]
        rows.append((f"`{' '.join([command.name, *arguments])}`", command.help.split("\n\n")[0]))
    return _table(("command", "shows"), rows)


def options() -> str:
    """Every option of every command: what it takes, its default, what it does."""
    meanings: dict[str, str] = {}
    defaults: dict[str, dict[str, list[str]]] = {}
    for command in _commands():
        for option in command.params:
            if option.param_type_name == "option" and option.opts[0] != "--help":
                meaning, _, told = option.help.partition("; default: ")
                choices = getattr(option.type, "choices", ())
                takes = "" if choices or option.is_flag else f" {option.metavar}"
                name = f"`{option.opts[0]}{takes}`"
                meanings.setdefault(name, meaning + (f": {_or(choices)}" if choices else ""))
                default = "" if option.default in (None, False) else f"`{option.default}`"
                found = defaults.setdefault(name, {})
                found.setdefault(told or default, []).append(f"`{command.name}`")
    rows = [(name, _defaults(defaults[name]), meaning) for name, meaning in meanings.items()]
    return _table(("option", "default", "meaning"), rows)


def _defaults(found: dict[str, list[str]]) -> str:
    """A default, and the commands that have another."""
    usual = max(found, key=lambda default: len(found[default]))
    others = [f"{default} for {', '.join(found[default])}" for default in found if default != usual]
    return "; ".join([usual, *others])


def fields() -> str:
    """Every mapping that a model file can have, field by field."""
    from txcalc.model.model import Model
    from txcalc.sources.description import Description

    structs = [("Top level", Description), *_reached(Model)]
    return "\n".join(_described(title, struct) for title, struct in structs)


_AS_WRITTEN = {"stacks": "layers`, `encoder"}
"""Fields of a model that a file calls otherwise."""
_FOLLOWING = ("conditions",)
"""Fields of a model that no file states."""


def _reached(struct: type[msgspec.Struct]) -> Iterator[tuple[str, type[msgspec.Struct]]]:
    """All structs in the fields of one, each under the fields that lead to it."""
    found: dict[type[msgspec.Struct], list[str]] = {}

    def visit(struct: type[msgspec.Struct], field: str) -> None:
        names = found.setdefault(struct, [])
        if field in names:
            return
        names.append(field)
        for name, hint in get_type_hints(struct).items() if len(names) == 1 else ():
            if name in struct.__struct_fields__ and name not in _FOLLOWING:
                for inner in _structs(hint):
                    visit(inner, _AS_WRITTEN.get(name, name))

    visit(struct, "")
    del found[struct]
    for inner, names in found.items():
        where = ", ".join(f"`{name}`" for name in names)
        tag = inner.__struct_config__.tag
        yield (f"`{tag}`, a kind of {where}" if tag else where), inner


def _structs(hint: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for inner in get_args(hint):
        if not isinstance(hint, type) or get_args(hint):
            yield from _structs(inner)


def _described(title: str, struct: type[msgspec.Struct]) -> str:
    """A heading, what the struct says of itself, and a table of the fields it adds to its kin."""
    hints = get_type_hints(struct, include_extras=True)
    names, given = struct.__struct_fields__, struct.__struct_defaults__
    defaults = dict(zip(reversed(names), reversed(given), strict=False))
    kin = struct.__base__.__struct_config__.tag if struct.__base__.__struct_fields__ else None
    inherited = struct.__base__.__struct_fields__ if kin else ()
    rows = [(f"all of `{kin}`", "", "")] if kin else []
    rows += [
        (f"`{name}`", _takes(hints[name]), _left_out(defaults.get(name, msgspec.NODEFAULT)))
        for name in names
        if name not in inherited
    ]
    table = f"\n{_table(('field', 'value', 'left out'), rows)}" if rows else ""
    return f"### {title}\n\n{_paragraphs(struct)}\n{table}"


def _takes(hint: Any) -> str:
    """What a field may hold, and what its metadata says of it."""
    from txcalc.exact.quantity import Quantity

    match get_origin(hint) or hint:
        case origin if origin is Annotated:
            inner, *metadata = get_args(hint)
            return next((m.description for m in metadata if m.description), _takes(inner))
        case origin if origin is Literal:
            return _or([str(value) for value in get_args(hint)])
        case origin if origin is dict:
            return "described below"
        case origin if origin in (list, tuple):
            return f"a list of {_takes(get_args(hint)[0])}"
        case origin if origin is Any:
            return "described below"
        case origin if isinstance(origin, type) and issubclass(origin, Quantity):
            return "a size" if origin.__name__ == "Letter" else "a size or the name of one"
        case origin if isinstance(origin, type) and issubclass(origin, msgspec.Struct):
            tag = origin.__struct_config__.tag
            return f"`{tag}`" if tag else "described below"
        case origin if isinstance(origin, type) and not get_args(hint):
            names = {"bool": "`true` or `false`", "str": "text", "int": "a whole number"}
            return names[origin.__name__]
        case _:
            taken = [_takes(inner) for inner in get_args(hint) if inner is not NoneType]
            return " or ".join(dict.fromkeys(taken))


def _left_out(default: Any) -> str:
    if default is msgspec.NODEFAULT:
        return "required"
    if default is None or default is False or default == "none" or hasattr(default, "factory"):
        return ""
    return f"`{str(getattr(default, 'value', default)).lower()}`"


def _paragraphs(struct: type[msgspec.Struct]) -> str:
    text = inspect.getdoc(struct) or ""
    joined = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return joined.replace("``", "`").replace(" * ", r" \* ")


def _or(names: Any) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} or {last}" if first else last


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, (":--",) * len(head), *rows]
    return "".join(" ".join(f"| {' | '.join(cells)} |".split()) + "\n" for cells in lines)


TABLES = {"commands": commands, "options": options, "fields": fields}
