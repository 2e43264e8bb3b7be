"""A wheel, an sdist's wheel and a checkout are the same txcalc; hooks and the action call it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import txcalc
from tests.support.running import run
from txcalc.report.format import printable

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
STALE = "125M<!-- txcalc: gpt2-small params.total -->\n"
CLAIMS = "claims:\n- {id: total, model: gpt3, claim: params.total, value: 176B}\n"


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
        *(str(path.relative_to(SOURCE)) for path in (SOURCE / "txcalc/page").glob("*.[jc]s*")),
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
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", ".ci/run",
                 "scripts/refresh_docs.py", "docs/concurrency.svg",
                 "tests/test_packaging.py"):  # fmt: skip
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


def _hook(name: str, files: list[str]) -> int:
    """The exit code of a hook that pre-commit calls on those files that it asks for."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (hook,) = (hook for hook in hooks if hook["id"] == name)
    command, *arguments = [*hook["entry"].split(), *hook["args"]]
    assert command == "txcalc"
    return run(*arguments, *(file for file in files if re.search(hook["files"], file))).code


def test_hooks_read_pages_and_claims_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    stale = dict.fromkeys(["-dash.md", "a page.markdown", "sub/page.md"], STALE) | dict.fromkeys(
        ["claims.yaml", "sub/paper-claims.yml"], CLAIMS
    )
    others = dict.fromkeys(["values.yaml", "claims.json", "page.md.txt"], STALE)
    for name, text in (stale | others).items():
        Path(name).write_text(text, "utf-8")
    assert all(_hook("txcalc-check", [name]) == 1 for name in stale)
    assert _hook("txcalc-refresh", [*stale, *others]) == 0
    assert all(_hook("txcalc-check", [name]) == 0 for name in stale)
    assert all(Path(name).read_text("utf-8") == STALE for name in others)


def _action(folder: Path, paths: str, temporary: Path) -> tuple[int, list[tuple[str, str, str]]]:
    """The exit code of the action's last step, and its annotations: file, line and message."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (temporary / "step.sh").write_text(action["runs"]["steps"][-1]["run"], "utf-8")
    values = {"PYTHON": sys.executable, "RUNNER_TEMP": str(temporary), "PATHS": paths}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(temporary / "step.sh")],
        cwd=folder, env=os.environ | {"PYTHONUTF8": "1"} | values, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert not done.stderr or done.returncode == 2
    found = []
    for line in done.stdout.splitlines():
        command = re.fullmatch(r"::error file=([^:,]+),line=([0-9]+)::(.+)", line)
        assert command, line
        found.append((_plain(command[1]), command[2], _plain(command[3])))
    return done.returncode, found


def _plain(text: str) -> str:
    """What GitHub reads in a workflow command, where % stands in an escape only."""
    signs = {"%25": "%", "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","}
    return re.sub("%.{0,2}", lambda escape: signs[escape[0]], text)


def test_the_action_annotates_files_by_the_names_that_github_has_for_them(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "temp").mkdir()
    (tmp_path / "temp" / "txcalc").symlink_to(installed)
    folder = tmp_path / "repository"
    (folder / "docs").mkdir(parents=True)
    odd = "docs/100%, ≈ a: b\n.md"
    (folder / odd).write_text(f"\n{STALE}", "utf-8")
    (folder / "two words.md").write_text(STALE, "utf-8")
    (folder / "holds.md").write_text(STALE.replace("125M", "124M"), "utf-8")
    (folder / "txcalc.py").write_text("raise SystemExit(3)", "utf-8")

    def ask(paths: str) -> tuple[int, list[tuple[str, str]]]:
        code, found = _action(folder, paths, tmp_path / "temp")
        for name, _, message in found:
            assert message.removeprefix("./").startswith(f"{printable(name)}:")
        return code, [(name, line) for name, line, _ in found]

    assert ask(".") == (1, [("two words.md", "1"), (odd, "2")])
    assert ask("holds.md\ntwo words.md\n") == (1, [("two words.md", "1")])
    assert ask("holds.md") == (0, [])
    assert ask("docs/*.md") == (2, [("docs/*.md", "1")])
