"""A Hugging Face config.json as families read it: typed, and with a record of the keys read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Literal, NoReturn, TypeVar

from txcalc.errors import DescriptionError, RefusedError, nearest
from txcalc.sources.json import shown
from txcalc.sources.readers import values

Task = Literal["causal", "masked", "conditional", "body"]
"""What the class counts: with a causal head, a masked-LM head, encoder and decoder, or no head."""

TaskHead = Literal[
    "sequence", "tokens", "span", "choice", "next_sentence", "reward", "process_reward"
]
"""What a class without a language-model head has on its body instead."""

Tree = dict[str, Any]
"""A description, or a piece of one."""

DEEPEST = 8
"""Levels of objects within objects that a config is read to."""

T = TypeVar("T")


class _Missing:
    """No default: the key has to be there."""


MISSING = _Missing()


class Config:
    """One object of a config.json.

    Readers take alternative names of one key and return the value of those present, which have to
    agree; a key that is absent or null has the default, and without a default is an error.
    The body of a class with a task ``head`` has its ``pooler`` only where the head reads it.
    """

    def __init__(
        self,
        tree: Mapping[str, Any],
        file: str,
        task: Task,
        *,
        path: str = "",
        type_: str = "",
        class_: str = "",
        head: TaskHead | None = None,
        pooler: bool = True,
    ) -> None:
        self.task: Task = task
        self.head: TaskHead | None = head
        self.pooler = pooler
        self.type = type_
        self.class_ = class_
        self._tree = tree
        self._file = file
        self._path = path
        self.usual: Mapping[str, int] = {}
        self.assumed: dict[str, int] = {}
        self._names: Mapping[str, str] = {}
        self._read: set[str] = set()
        self._inner: dict[str, Config] = {}

    def size(self, *names: str, default: int | _Missing | None = MISSING) -> int:
        """A positive whole number; one without a default is as the class has it, if that is known.

        Such sizes are in ``usual``, and in ``assumed`` once they were needed.
        """
        size = self.maybe(*names)
        if size is not None:
            return size
        if default is not None and not isinstance(default, _Missing):
            return default
        return self.by_class(*names) or self._missing(names)

    def by_class(self, *names: str) -> int | None:
        """A size that the file leaves out and the class of the type knows."""
        usual = [name for name in names if name in self.usual]
        if not usual or any(name in self._tree for name in names):
            return None
        self.assumed[usual[0]] = self.usual[usual[0]]
        return values.Keyed(self.usual[usual[0]], self.at(usual[0]))

    def stated(self, name: str, default: int) -> int:
        """A positive whole number that may be left out, but not null."""
        return self.size(name) if self.null(name) else self.size(name, default=default)

    def maybe(self, *names: str) -> int | None:
        """A positive whole number, or None where no key is there."""
        return self._one(names, values.size)

    def count(self, *names: str, default: int | _Missing = MISSING) -> int:
        """A whole number that may be zero."""
        return self._or(self._one(names, values.count), default, names)

    def number(self, *names: str, default: Fraction | int | _Missing = MISSING) -> Fraction:
        """A finite number, exactly as its decimals say."""
        number = self._one(names, values.number)
        if number is None and not isinstance(default, _Missing):
            return Fraction(default)
        return self._or(number, MISSING, names)

    def flag(self, *names: str, default: bool | _Missing = MISSING) -> bool:
        """True or false."""
        return self._or(self._one(names, values.flag), default, names)

    def on(self, name: str, *, default: bool) -> bool:
        """The same, but false where it is null."""
        self.ignore(name)
        return not self.null(name) and self.flag(name, default=default)

    def word(
        self, *names: str, default: str | _Missing = MISSING, known: Iterable[str] = ()
    ) -> str:
        """A string, one of those known if any are given."""
        word = self._or(self._one(names, values.word), default, names)
        choices = list(known)
        if choices and word not in choices:
            self.refuse(names[0], f"{word!r} is not modelled{nearest(word, choices)}")
        return word

    def words(self, *names: str, length: int | None = None) -> list[str] | None:
        """A list of strings, as long as there are layers; None where no key is there."""
        return self._list(names, values.word, length)

    def sizes(self, *names: str, length: int | None = None) -> list[int] | None:
        """A list of whole numbers, zero included; None where no key is there."""
        return self._list(names, values.count, length)

    def flags(self, *names: str, length: int | None = None) -> list[bool] | None:
        """A list of truth values (0 and 1 among them); None where no key is there."""
        return self._list(names, values.truth, length)

    def inner(self, *names: str) -> Config | None:
        """An object within this one, under the same task; whoever asks again gets the same."""
        self._read.update(names)
        for name in names:
            if name in self._inner:
                return self._inner[name]
        present = [name for name in names if self.has(name)]
        if not present:
            return None
        name = present[0]
        tree = self._tree[name]
        if any(self._tree[other] != tree for other in present):
            self.refuse(name, f"it contradicts another name of it: {', '.join(present)}")
        if not isinstance(tree, dict):
            self.refuse(name, f"an object is needed, not {shown(tree)}")
        if self.at(name).count(".") >= DEEPEST:
            self.refuse(self.at(name)[:40], f"objects nested deeper than {DEEPEST}")
        type_ = tree.get("model_type") or ""
        if not isinstance(type_, str):
            self.refuse(f"{name}.model_type", f"a name is needed, not {shown(type_)}")
        inner = Config(
            tree, self._file, self.task, path=self.at(name), type_=type_,
            head=self.head, pooler=self.pooler,
        )  # fmt: skip
        self._inner[name] = inner
        return inner

    def absent(self, name: str) -> Config:
        """The object that a file leaves out, all of it as the class has it."""
        return self._inner.setdefault(name, Config({}, self._file, self.task, path=self.at(name)))

    def needed(self, *names: str) -> Config:
        """The same, as an error where it is missing."""
        return self.inner(*names) or self._missing(names)

    def has(self, name: str) -> bool:
        """Whether a key is there and not null."""
        return self._tree.get(name) is not None

    def null(self, name: str) -> bool:
        """Whether a key is there, but null."""
        return name in self._tree and self._tree[name] is None

    def names(self) -> list[str]:
        """The keys there are."""
        return list(self._tree)

    def raw(self, name: str) -> Any:
        """The value of a key as it stands, which counts as read."""
        self._read.add(name)
        return self._tree.get(name)

    def rename(self, names: Mapping[str, str]) -> None:
        """Makes keys of another format readable by a family's names for them.

        ``names`` maps those to the file's own, which errors and legends speak of.
        """
        self._names = {name: own for name, own in names.items() if own in self._tree}
        own = set(self._names.values())
        rest = {name: value for name, value in self._tree.items() if name not in own}
        self._tree = rest | {name: self._tree[own] for name, own in self._names.items()}

    def assume(self, **defaults: int | None) -> None:
        """Gives keys that are left out the defaults of the surrounding config."""
        assumed = {name: value for name, value in defaults.items() if name not in self._tree}
        self._tree = {**self._tree, **assumed}
        self._read.update(assumed)

    def forget(self, *names: str) -> None:
        """Drops keys that describe this config as a model by itself."""
        self._tree = {name: value for name, value in self._tree.items() if name not in names}

    def ignore(self, *names: str) -> None:
        """Records that keys change no count of this family."""
        self._read.update(names)

    def ignore_all(self, *starts: str) -> None:
        """The same for every key with one of these beginnings."""
        self._read.update(key for key in self._tree if key.startswith(starts))

    def refuse(self, name: str, message: str) -> NoReturn:
        """Ends with an error at a key."""
        raise DescriptionError(message, where=f"{self._file}: {self.at(name)}")

    def unsupported(self, what: str) -> NoReturn:
        """Refuses a feature that is not modelled, by name."""
        raise RefusedError(f"{self._file}: {what} is not modelled, so no exact count can be given")

    def only(self, *tasks: Task) -> None:
        """Refuses the classes that a family does not know."""
        if self.task not in tasks:
            self.unsupported(f"the {self.task} class of type {self.type!r}")

    def unread(self) -> list[str]:
        """Paths of the keys that no reader asked for."""
        own = [self.at(key) for key in self._tree if key not in self._read]
        return own + [path for inner in self._inner.values() for path in inner.unread()]

    def at(self, name: str) -> str:
        """The path of a key."""
        name = self._names.get(name, name)
        return f"{self._path}.{name}" if self._path else name

    def _one(self, names: tuple[str, ...], convert: Callable[[Any, str], T]) -> T | None:
        self._read.update(names)
        present = {n: self._typed(n, self._tree[n], convert) for n in names if self.has(n)}
        if len(set(present.values())) > 1:
            both = ", ".join(f"{name} = {value}" for name, value in present.items())
            self.refuse(next(iter(present)), f"two names of one key contradict each other: {both}")
        return next(iter(present.values()), None)

    def _or(self, value: T | None, default: T | _Missing, names: tuple[str, ...]) -> T:
        if value is not None:
            return value
        return self._missing(names) if isinstance(default, _Missing) else default

    def _list(
        self, names: tuple[str, ...], convert: Callable[[Any, str], T], length: int | None
    ) -> list[T] | None:
        self._read.update(names)
        lists = {n: self._items(n, convert, length) for n in names if self.has(n)}
        first = next(iter(lists), None)
        if first is None:
            return None
        if any(items != lists[first] for items in lists.values()):
            self.refuse(first, f"it contradicts another name of it: {', '.join(lists)}")
        return lists[first]

    def _items(self, name: str, convert: Callable[[Any, str], T], length: int | None) -> list[T]:
        items = self._tree[name]
        if not isinstance(items, list):
            self.refuse(name, f"a list is needed, not {shown(items)}")
        if length is not None and len(items) != length:
            self.refuse(name, f"{len(items)} entries for {length} layers")
        return [self._typed(f"{name}[{i}]", item, convert) for i, item in enumerate(items)]

    def _typed(self, name: str, value: Any, convert: Callable[[Any, str], T]) -> T:
        try:
            return convert(value, self.at(name))
        except ValueError as error:
            self.refuse(name, str(error))

    def _missing(self, names: tuple[str, ...]) -> NoReturn:
        null = any(name in self._tree for name in names)
        self.refuse(names[0], f"{'null, but a value' if null else 'missing, but it'} is needed")
