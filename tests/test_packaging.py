"""A wheel, an sdist's wheel and a checkout are the same txcalc."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import txcalc

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"


def _python(*arguments: str, folder: Path, path: Path) -> str:
    """What Python prints in a folder apart, with ``path`` before what is installed."""
    done = subprocess.run(
        [sys.executable, "-P", *arguments], cwd=folder, env=os.environ | {"PYTHONPATH": str(path)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist and the wheels of the sdist and of the tree."""
    folder = tmp_path_factory.mktemp("built")
    build = ("-m", "build", "--no-isolation", str(ROOT), "--outdir")
    _python(*build, str(folder / "sdist"), folder=folder, path=folder)
    _python(*build, str(folder / "tree"), "--wheel", folder=folder, path=folder)
    return folder


def _wheel(folder: Path) -> zipfile.ZipFile:
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module", params=["sdist", "tree"])
def installed(
    request: pytest.FixtureRequest, built: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A wheel unpacked, which is what installing a pure one amounts to."""
    folder = tmp_path_factory.mktemp(request.param)
    with _wheel(built / request.param) as wheel:
        wheel.extractall(folder)
    return folder


def test_an_sdist_makes_the_same_wheel_as_the_tree(built: Path) -> None:
    with _wheel(built / "sdist") as one, _wheel(built / "tree") as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        assert all(one.read(name) == other.read(name) for name in one.namelist())


def test_a_wheel_holds_all_modules_all_models_and_the_marker_of_its_types(built: Path) -> None:
    wanted = {
        *(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")),
        *(f"txcalc/{path.relative_to(ROOT)}" for path in (ROOT / "configs").rglob("*.yaml")),
        "txcalc/py.typed",
    }
    with _wheel(built / "tree") as wheel:
        names = set(wheel.namelist())
    assert wanted <= names
    extra = {name for name in names - wanted if ".dist-info/" not in name}
    assert not extra


def test_a_wheel_states_the_command_and_the_licence(built: Path) -> None:
    with _wheel(built / "tree") as wheel:
        info = f"txcalc-{txcalc.__version__}.dist-info"
        entries = wheel.read(f"{info}/entry_points.txt").decode()
        assert "[console_scripts]\ntxcalc = txcalc.cli:main" in entries
        assert f"{info}/licenses/LICENSE" in wheel.namelist()


def test_an_sdist_holds_what_its_own_tests_need(built: Path) -> None:
    (path,) = (built / "sdist").glob("*.tar.gz")
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    for name in ("README.md", "CHANGELOG.md", "LICENSE", ".ci/run", "scripts/refresh_docs.py",
                 "docs/concurrency.svg", "tests/test_packaging.py"):  # fmt: skip
        assert name in names


def test_an_installed_txcalc_is_the_one_that_was_installed(installed: Path, tmp_path: Path) -> None:
    where = "import txcalc; from txcalc.sources.bundled import configs; print(configs())"
    assert _python("-c", where, folder=tmp_path, path=installed).strip() == str(
        installed / "txcalc" / "configs"
    )
    version = _python("-m", "txcalc", "--version", folder=tmp_path, path=installed)
    assert version == f"{txcalc.__version__}\n"


@pytest.mark.parametrize(
    "command", ["models --format csv", "params toy gpt2-small gpt3 --format json"]
)
def test_names_resolve_alike_in_wheel_sdist_and_checkout(
    command: str, installed: Path, tmp_path: Path
) -> None:
    ask = ("-m", "txcalc", *command.split())
    answer = _python(*ask, folder=tmp_path, path=installed)
    assert answer == _python(*ask, folder=tmp_path, path=SOURCE)
    assert len(answer.splitlines()) > 1


def test_a_checkout_reads_the_models_that_one_edits(tmp_path: Path) -> None:
    where = "from txcalc.sources.bundled import configs; print(configs())"
    assert _python("-c", where, folder=tmp_path, path=SOURCE).strip() == str(ROOT / "configs")
