"""The least whole number of a letter or a dimension at which a condition over figures holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import floor
from typing import Any

import msgspec

from txcalc.accounts.options import question_for
from txcalc.accounts.registry import account, refuse_unread, report_of
from txcalc.errors import AddressError, OptionError, TxcalcError
from txcalc.exact.emit import compiled
from txcalc.exact.quantity import LARGEST, Number, Quantity
from txcalc.exact.search import NeverError, least_true
from txcalc.model.model import Model
from txcalc.report.expression import evaluate
from txcalc.report.report import Report
from txcalc.sources.loading import built, read
from txcalc.sweeps.derived import Sized
from txcalc.workload.question import LETTERS, Question

_STARTS = tuple(1 << power for power in range(11))
"""Numbers of a letter at which a derivation is looked for: a layout may need more than one."""
_LOOKED_AT = sorted({n * 2**power for n in (2, 3) for power in range(50) if n * 2**power < LARGEST})


class Solution(msgspec.Struct, frozen=True, kw_only=True):
    """The ``least`` number of a letter, None where there is none up to 10^15.

    ``sides`` are both sides of the condition at that number and at the one before; ``limit`` is the
    quotient of both at 10^15 where there is none.  At so many numbers as are ``checked`` it holds
    from the least on, and not before.
    """

    model: str
    condition: str
    sides_written: tuple[str, str]
    is_flipped: bool
    letter: str
    least: int | None
    sides: dict[int, tuple[Quantity, Quantity]]
    limit: Number | None
    checked: int
    assumptions: list[str]
    warnings: list[str]


class Condition:
    """``A >= B``, or ``A <= B``: two texts of arithmetic over addresses.

    Raises:
        OptionError: a text that is none.
    """

    def __init__(self, text: str) -> None:
        sign = ">=" if ">=" in text else "<="
        sides = [side.strip() for side in text.split(sign)]
        if len(sides) != 2 or not all(sides) or text.count("=") != 1:
            raise OptionError(f"{text!r} is no condition: write A >= B, or A <= B")
        self.text, self.sides, self.is_flipped = text, (sides[0], sides[1]), sign == "<="
        above, below = reversed(sides) if self.is_flipped else sides
        self.gap, self.ratio = f"({above}) - ({below})", f"({above}) / ({below})"


def solve(
    name: str,
    condition: str,
    letter: str,
    given: Mapping[str, object] = {},
    changes: Sequence[str] = (),
    *,
    type_: str | None = None,
    strict: bool = False,
    prefix: str = "--",
) -> Solution:
    """The least number of a letter of the question, or of a dimension, at which a condition holds.

    It is found on the compiled derivation; the model is asked again at it and at the one before.

    Raises:
        OptionError: a condition that cannot be read or does not stay true once it is, a letter
            that is given as well, or a derivation that is another one at the number found.
        TxcalcError: what the figures are refused for.
    """
    asked = Condition(condition)
    if letter in given:
        raise OptionError(f"{prefix}{letter} and --for {letter} are both given: one of them")
    question = question_for(given, [asked.gap], prefix=prefix)
    if letter in LETTERS:
        refuse_unread([letter], [asked.gap], "--for ")
    tree, file, warnings = read(name, type_=type_, strict=strict)
    return _Search(tree, file, asked, letter, question, changes).solution(warnings)


class _Search:
    """The search over one letter of one model."""

    def __init__(
        self,
        tree: Any,
        file: str,
        condition: Condition,
        letter: str,
        question: Question,
        changes: Sequence[str],
    ) -> None:
        self._tree, self._file, self._changes = tree, file, changes
        self._condition, self._letter, self._question = condition, letter, question
        self._gap = self._compiled(condition.gap)

    def solution(self, warnings: Sequence[str]) -> Solution:
        """The least number, proved at it and at the one before."""
        try:
            least = least_true(self._holds)
        except NeverError:
            least = None
        checked = self._check_order(least)
        proofs = [] if least is None else [n for n in (least, least - 1) if n]
        sides = {n: self._proved(n, least) for n in proofs}
        report = self._report(least or self._start)
        return Solution(
            model=report.model,
            condition=self._condition.text,
            sides_written=self._condition.sides,
            is_flipped=self._condition.is_flipped,
            letter=self._letter,
            least=least,
            sides=sides,
            limit=None if least else self._compiled(self._condition.ratio)(LARGEST),
            checked=checked,
            assumptions=[a for a in report.assumptions if not a.startswith(f"{self._letter} ")],
            warnings=[*warnings, *report.warnings],
        )

    def _holds(self, n: int) -> bool:
        return self._gap(n) >= 0

    def _check_order(self, least: int | None) -> int:
        """Refuses a condition that does not stay true; how many numbers show that it does."""
        near = () if least is None else (least + 1, least + 2, 3 * least)
        looked_at = sorted({*range(1, 65), *_LOOKED_AT, *near})
        for n in looked_at:
            if self._holds(n) != (least is not None and n >= least):
                holds, fails = (n, least) if least is None or n < least else (least, n)
                raise OptionError(
                    f"{self._condition.text}: it holds at {self._letter} {holds} and not at "
                    f"{fails}: no least number answers it; sweep over {self._letter}"
                )
        return len(looked_at)

    def _proved(self, n: int, least: int | None) -> tuple[Quantity, Quantity]:
        """Both sides at a number, asked again, of which the condition is what was found."""
        find = self._report(n).find
        if (evaluate(self._condition.gap, find).value >= 0) != (n == least):
            raise OptionError(
                f"{self._condition.text}: with {self._letter} {n} it is derived otherwise than "
                f"with {self._start}; sweep over {self._letter}"
            )
        left, right = (evaluate(side, find) for side in self._condition.sides)
        return left, right

    def _report(self, n: int) -> Report:
        """What is asked at a number of the letter."""
        if self._letter in LETTERS:
            asked = msgspec.structs.replace(self._question, **{self._letter: n})
            return report_of(self._condition.gap, self._built(), asked)
        return report_of(self._condition.gap, self._built({self._letter: n}), self._question)

    def _built(self, sizes: Mapping[str, int] = {}) -> Model:
        return built(self._tree, self._file, self._changes, sizes)

    def _compiled(self, text: str) -> Callable[[int], Number]:
        """A figure as a function of the letter."""
        sized = self._at_start(text)
        return compiled(sized.figures[0], [self._letter], sized.places)

    def _at_start(self, text: str) -> Sized:
        """The derivation of a figure at the first number of the letter that is not refused."""
        if self._letter not in LETTERS:
            sizes = {self._letter: self._start}
            return Sized(self._tree, self._file, sizes, [text], self._question, self._changes)
        asked = msgspec.structs.replace(self._question, **{self._letter: self._start})
        return Sized(self._tree, self._file, {}, [text], asked, self._changes)

    @cached_property
    def _start(self) -> int:
        """A dimension's own size, or the first number of a letter that is not refused."""
        if self._letter not in LETTERS:
            dims = account("dims", self._built(), Question())
            try:
                return floor(dims.find(f"dims.{self._letter}").value)
            except AddressError as error:
                raise OptionError(
                    f"--for {self._letter}: no letter of the question, and no dimension: {error}"
                ) from None
        refused: list[TxcalcError] = []
        for start in _STARTS:
            try:
                self._report(start)
            except TxcalcError as error:
                refused.append(error)
            else:
                return start
        raise refused[0]
