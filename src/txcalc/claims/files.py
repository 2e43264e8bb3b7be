"""Claims of files and folders, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from txcalc.claims.checking import AnswersOf, answers_by_name, check
from txcalc.claims.claim import Place, Verdict, unreadable
from txcalc.claims.commented import Found, claims
from txcalc.claims.listed import MAX_CLAIMS, listed_claims
from txcalc.claims.pages import CLAIMS_FILES, Page, pages
from txcalc.claims.readers import comments
from txcalc.claims.readers.comment import PageError
from txcalc.errors import TxcalcError

MAX_UNREADABLE = 1000
"""Claims of one file that cannot be read before the rest is given up."""


def verdicts(paths: Iterable[str]) -> Iterator[Verdict]:
    """The verdict on every claim of files, or of the files below folders, each file once.

    What cannot be read is a verdict too, so that all claims are checked.
    """
    for _, of_page in verdicts_by_page(paths):
        yield from of_page


def verdicts_by_page(paths: Iterable[str]) -> Iterator[tuple[Page | None, list[Verdict]]]:
    """The same page by page; without a page where one cannot be read."""
    answers_of = answers_by_name()
    for page in pages(paths):
        if isinstance(page, Verdict):
            yield None, [page]
        else:
            yield page, list(_verdicts_on(page, answers_of))


def _verdicts_on(page: Page, answers_of: AnswersOf) -> Iterator[Verdict]:
    unread = 0
    try:
        for i, (claim, name, place) in enumerate(_claims_of(page)):
            if i == MAX_CLAIMS or unread == MAX_UNREADABLE:
                what = f"{i:,} claims" if i == MAX_CLAIMS else f"{unread:,} that cannot be read"
                raise PageError(
                    f"the claims from here on are not checked, after {what}", place.line
                )
            if isinstance(claim, TxcalcError):
                verdict = unreadable(place, str(claim), name=name)
            else:
                verdict = check(claim, place, answers_of)
            unread += verdict.unreadable
            yield verdict
    except PageError as error:
        yield unreadable(Place(page.path, error.line), str(error))


def _claims_of(page: Page) -> Iterator[Found]:
    if page.ending in CLAIMS_FILES:
        return listed_claims(page.text, page.path)
    return claims(comments(page.text, page.ending), page.text, page.path)
