"""Pages with claims: what they say, what is found in them, and ``txcalc check`` on them."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.running import Run, run
from txcalc.claims.claim import Claim, Place
from txcalc.claims.commented import Found, claims
from txcalc.claims.readers import comments

ABOUT = "txcalc: gpt2-small params.total"
TOTAL = f"<!-- {ABOUT} -->"
HOLDS = f"GPT-2 small has 124,439,808{TOTAL} parameters.\n"
STALE = f"It has 125M{TOTAL} of them.\n"
ROW = "claims:\n- {id: a, model: gpt2-small, claim: params.total, "


def claims_of(text: str, file: str = "page.md") -> list[Found]:
    """What stands in the comments of a page."""
    ending = os.path.splitext(file)[1]
    return list(claims(comments(text, ending), text, file))


def one_claim(text: str, file: str = "page.md") -> tuple[Claim, Place]:
    """The only claim of a page."""
    [(claim, _, place)] = claims_of(text, file)
    assert isinstance(claim, Claim), claim
    return claim, place


def check(folder: Path, text: str, *options: str, name: str = "page.md") -> Run:
    """``txcalc check`` on a page with a text."""
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return run("check", path, *options)
