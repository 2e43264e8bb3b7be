"""What only a process shows: exit codes, pipes, terminals and encodings."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources.test_bad_descriptions import GOOD
from tests.support.running import MODELS, run
from txcalc import __version__

TXCALC = [sys.executable, "-m", "txcalc"]
COMMANDS = ("params", "flops", "kvcache", "intensity", "concurrency", "generation", "shapes",
            "show", "models", "get")  # fmt: skip
ESCAPE = "\x1b["


def environment(**changes: str) -> dict[str, str]:
    """This one without what colours, widens or encodes output."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONIOENCODING", "PYTHONUTF8")
        and not name.startswith(("TERM", "LC_", "LANG"))
    }
    return kept | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | changes


def started(*arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """``python -m txcalc`` with its output piped."""
    command = [*TXCALC, *arguments]
    env = environment(**changes)
    return subprocess.run(command, capture_output=True, env=env, timeout=60, check=False)


def on_terminal(*arguments: str, columns: int = 80, **changes: str) -> str:
    """What a terminal of some width is sent."""
    pty = pytest.importorskip("pty")
    reading, writing = pty.openpty()
    process = subprocess.Popen(
        [*TXCALC, *arguments], stdout=writing, stderr=writing, stdin=writing,
        env=environment(COLUMNS=str(columns), **changes),
    )  # fmt: skip
    os.close(writing)
    sent = b""
    while True:
        ready, _, _ = select.select([reading], [], [], 30)
        try:
            chunk = os.read(reading, 65536) if ready else b""
        except OSError:
            chunk = b""
        if not chunk:
            break
        sent += chunk
    os.close(reading)
    assert process.wait(30) == 0
    return sent.decode("utf-8").replace("\r\n", "\n")


def test_success_ends_with_0_and_bad_input_with_2(tmp_path: Path) -> None:
    good = started("get", "toy", "params.total")
    assert (good.returncode, good.stdout, good.stderr) == (0, b"329600\n", b"")
    bad = started("get", "tyo", "params.total")
    assert (bad.returncode, bad.stdout) == (2, b"")
    assert b"Traceback" not in bad.stderr
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("d_model: 8", "d_model: -8"), "utf-8")
    worse = started("params", str(path))
    assert (worse.returncode, worse.stdout) == (2, b"")
    assert worse.stderr.count(b"\n") == 1


def test_a_closed_pipe_ends_quietly() -> None:
    for arguments in (["params", "gpt3", "--tensors"], ["--help"]):
        process = subprocess.Popen(
            [*TXCALC, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        process.wait(60)
        assert said == b""


def test_ctrl_c_ends_with_130(tmp_path: Path) -> None:
    fifo = tmp_path / "waits.yaml"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [*TXCALC, "params", str(fifo)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(),
    )  # fmt: skip
    with fifo.open("wb"):  # opened once txcalc reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert err.count(b"\n") <= 1


def test_piped_output_is_plain_and_whole() -> None:
    ran = started("params", "gpt2-small", "--tensors", COLUMNS="20")
    text = ran.stdout.decode("utf-8")
    assert ran.returncode == 0
    assert ESCAPE not in text
    assert "…" not in text
    assert "block.norms.before_attention_bias" in text
    assert "n_heads·head_dim x d_model   768 x 768" in text


def test_a_terminal_gets_style_and_its_own_width() -> None:
    text = on_terminal("params", "gpt2-small")
    assert ESCAPE in text
    shown = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert "124,439,808" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_no_color_leaves_no_colour() -> None:
    text = on_terminal("params", "gpt2-small", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*(3[0-79]|4[0-79]|9[0-7]|10[0-7])[0-9;]*m", text)
    assert "124,439,808" in text


def test_a_narrow_terminal_loses_no_digit() -> None:
    text = on_terminal("params", "gpt2-small", columns=40, NO_COLOR="1")
    assert "…" not in text
    assert "124,439,808" in re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_output_that_can_be_only_ascii_is() -> None:
    ran = started("concurrency", "gpt3", PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.isascii()
    assert b"####" in ran.stdout


@pytest.mark.parametrize("name", MODELS)
def test_no_sign_of_ours_is_lost_in_ascii(name: str) -> None:
    for command in (["params", name], ["shapes", name], ["params", name, "--tensors"]):
        ran = run(*command, encoding="ascii")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.isascii()
        assert "\\" not in ran.out
        assert "?" not in ran.out


def test_errors_about_unusual_names_reach_an_ascii_terminal() -> None:
    ran = started("params", "mödel", PYTHONIOENCODING="ascii:strict")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"txcalc: no bundled model and no file")


def test_a_model_of_any_name_is_shown_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("name: small", "name: größer 模型"), "utf-8")
    for encoding in ("utf-8", "ascii", "latin-1", "cp1252"):
        ran = run("params", path, encoding=encoding)
        assert (ran.code, ran.err) == (0, "")
        assert "total" in ran.out
    assert "größer 模型" in run("params", path).out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_has_help(command: str, flag: str) -> None:
    ran = run(command, flag)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: txcalc {command} ")
    _, _, options = ran.out.partition("Options:")
    for line in re.findall(r"^  --?\S.*$", options, re.MULTILINE):
        name, *said = re.split(r" {2,}", line.strip())
        assert said or name.endswith(("NAME=V", "]")) or len(name) > 20, line


def test_the_list_of_commands_is_whole_and_told() -> None:
    ran = run("--help")
    assert (ran.code, ran.err) == (0, "")
    listed = dict(
        re.findall(r"^  (\w+) {2,}(\S.*)$", ran.out.partition("Commands:")[2], re.MULTILINE)
    )
    assert set(COMMANDS) <= set(listed)
    assert all("..." not in said for said in listed.values()), "a sentence cut short tells nothing"


def test_the_version_is_printed() -> None:
    assert run("--version") == (0, f"{__version__}\n", "")


def test_no_command_shows_help_and_ends_with_2() -> None:
    ran = run()
    assert ran.code == 2
    assert "Usage: txcalc" in ran.out + ran.err


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_completion_knows_models_and_addresses(shell: str) -> None:
    words = {"bash": "COMP_WORDS", "fish": "_TYPER_COMPLETE_ARGS"}[shell]

    def completed(line: str) -> str:
        asked = {"_TXCALC_COMPLETE": f"complete_{shell}", words: line}
        asked |= {"COMP_CWORD": str(len(line.split()) - 1 + line.endswith(" "))}
        asked |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        return started(**asked).stdout.decode("utf-8")

    models = completed("txcalc params gpt2-")
    assert "gpt2-small" in models
    assert "gpt3" not in models
    addresses = completed("txcalc get gpt2-small params.block.att")
    assert "params.block.attention.matmul" in addresses
    assert "params.total" not in addresses


def in_shell(line: str) -> tuple[int, bytes, bytes]:
    """A line of the shell with ``txcalc`` in it: exit code, standard output and error."""
    function = f'txcalc() {{ {sys.executable} -m txcalc "$@"; }}\n'
    ran = subprocess.run(
        ["bash", "-c", function + line], capture_output=True, env=environment(), timeout=60,
        check=False,
    )  # fmt: skip
    return ran.returncode, ran.stdout, ran.stderr


BROKEN_STREAMS = {
    "txcalc params toy <&- >/dev/null": 0,
    "txcalc params - <&-": 2,
    "txcalc params toy >&-": 0,
    "txcalc params nowhere 2>&-": 2,
    "txcalc params --nothing 2>&-": 2,
    "txcalc kvcache toy --ctx 4096 2>&- | tail -0": 0,
    "txcalc -h >/dev/full": 2,
    "txcalc params -h >/dev/full": 2,
    "txcalc --version >/dev/full": 2,
    "txcalc params toy >/dev/full": 2,
    "txcalc params toy >/dev/full 2>&1": 2,
    "txcalc params nowhere 2>/dev/full": 2,
    "txcalc params --nothing 2>/dev/full": 2,
    "txcalc -h | true; exit ${PIPESTATUS[0]}": 0,
    "txcalc --version | true; exit ${PIPESTATUS[0]}": 0,
    "mkdir gone; cd gone; rmdir ../gone; txcalc get toy params.total >/dev/null": 0,
    "mkdir gone; cd gone; rmdir ../gone; txcalc params model.yaml": 2,
    "txcalc params toy --set $'d_model=\\xff'": 2,
    "txcalc kvcache toy --ctx $'\\xff'": 2,
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is needed")
@pytest.mark.parametrize("line", BROKEN_STREAMS)
def test_the_exit_code_is_kept_whatever_the_streams_are(line: str, tmp_path: Path) -> None:
    code, out, err = in_shell(f"cd {tmp_path}; {line}")
    assert (code, out) == (BROKEN_STREAMS[line], b"")
    assert b"Traceback" not in err
    assert b"fault of txcalc" not in err
    assert err.count(b"\n") <= 1


def test_help_in_ascii_is_ascii() -> None:
    for words in ([], *([command] for command in COMMANDS)):
        ran = run(*words, "-h", encoding="ascii")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.isascii()


@pytest.mark.parametrize("module", ["typer", "txcalc.cli.app", "yaml", "rich.console"])
def test_ctrl_c_while_modules_are_imported_ends_quietly(module: str) -> None:
    """The signal comes as a module is looked for, early and late in the start."""
    code = f"""
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
sys.argv = ["txcalc", "params", "toy"]
from txcalc.cli import main
main()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")
