"""Runs each claim of a page or claims file that pytest's command line names as one test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from txcalc.claims.claim import Verdict


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """Collects a page or a claims file that is named on the command line."""
    named = (str(argument).partition("::")[0] for argument in parent.config.args)
    if any((parent.config.invocation_params.dir / name) == file_path for name in named):
        from txcalc.claims.pages import ENDINGS

        if file_path.suffix.lower() in ENDINGS:
            return ClaimsFile.from_parent(parent, path=file_path)
    return None


class ClaimsFile(pytest.File):
    """A file with claims."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test for each claim."""
        from txcalc.claims.files import verdicts
        from txcalc.report.format import printable

        for verdict in verdicts([str(self.path)]):
            yield ClaimTest.from_parent(self, name=printable(verdict.claim.id), verdict=verdict)


class ClaimTest(pytest.Item):
    """One claim."""

    def __init__(self, name: str, parent: pytest.Collector, verdict: Verdict) -> None:
        super().__init__(name, parent)
        self._verdict = verdict

    def runtest(self) -> None:
        """Fails with what is wrong."""
        from txcalc.render.verdicts import failure

        if not self._verdict.holds:
            pytest.fail(failure(self._verdict), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The file, the line before the claim's, and its name."""
        return self.path, self._verdict.place.line - 1, self.name
