"""Settings of hypothesis: ordinary runs repeat themselves, ``--hypothesis-profile=long`` not."""

import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

_COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
    "phases": (Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink),
    "report_multiple_bugs": False,
}

settings.register_profile("ordinary", max_examples=16, derandomize=True, database=None, **_COMMON)
settings.register_profile("long", max_examples=3000, **_COMMON)
settings.load_profile("ordinary")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Benchmarks have the machine to themselves."""
    return 0 if config.option.markexpr == "bench" else None


def pytest_configure() -> None:
    """Ctrl-C as in a terminal: a shell starts what runs in the background deaf to it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
