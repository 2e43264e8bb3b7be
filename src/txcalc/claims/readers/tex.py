"""The comments of a LaTeX text: what stands behind ``%`` to the end of a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from txcalc.claims.readers.comment import WORD, Comment, lines_of

_SEEN = 1000
"""Characters before a comment that are turned into what a reader sees."""

_CODE = re.compile(r"(?:\\(?:verb|lstinline)\*?([!-/:-@\[-`|~]).*?\1|\\.|[^%\\])*+")
_CLAIM = re.compile(rf"%+\s*{WORD}")
_VERBATIM = re.compile(
    r"\\begin\{(verbatim\*?|[BL]?Verbatim\*?|lstlisting|minted|comment|filecontents\*?)\}"
)
_SPACE = re.compile(r"(?<![0-9}$])~")
"""A tie that does not stand between a number and its unit."""

_FORMATTING = re.compile(
    r"\\(?:text\w*|math\w+|emph|mbox|num|underline)\s*\{"
    r"|(?<!\\)\$|\\[()]|(?P<kept>\{,\}|\^\{[^{}]*\})|[{}]"
)
_ENDS = re.compile(r"(?:\\\\|\\hline|[\s.,;:!?)])+\Z")


def comments(text: str) -> Iterator[Comment]:
    """Every comment of a LaTeX text that may be a claim, in order."""
    before: list[str] = []
    verbatim_to = ""
    for start, line in lines_of(text):
        if verbatim_to:
            verbatim_to = "" if verbatim_to in line else verbatim_to
            continue
        code = _CODE.match(line)
        shown = code[0] if code else ""
        if not line.strip():
            before.clear()
        before.append(shown if len(shown) < len(line) else f"{shown}\n")
        if claim := _CLAIM.match(line, len(shown)):
            yield Comment(
                source=text, start=start + len(shown), word=claim["word"],
                body=line[claim.end() :], before=_as_seen("".join(before)),
            )  # fmt: skip
            before.clear()
        elif line[len(shown) :].strip("% "):  # another comment, in which numbers may stand too
            before.clear()
        if begun := _VERBATIM.search(shown):
            verbatim_to = f"\\end{{{begun[1]}}}"
        if "\\end{document}" in shown:
            return


def _as_seen(text: str) -> str:
    """The end of a text without what sets its type; numbers stay as they are written."""
    text = _SPACE.sub(" ", text[-_SEEN:])
    return _ENDS.sub("", _FORMATTING.sub(lambda markup: markup["kept"] or "", text))
