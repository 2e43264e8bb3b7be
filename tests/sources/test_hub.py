"""``hf:org/name``: the real Hub client against a server of our own on the loopback address."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8,
    "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 10,
}  # fmt: skip
TOTAL = 2 * (4 * 8 * 8 + 3 * 8 * 16 + 2 * 8) + 2 * 10 * 8 + 8
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(BaseHTTPRequestHandler):
    """One repository with one file, on its main branch and at the tag v2."""

    asked: ClassVar[list[str]] = []

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        self.asked.append(self.path)
        known = self.path in {
            f"/org/small/resolve/{at}/config.json" for at in ("main", "v2", COMMIT)
        }
        body = json.dumps(CONFIG).encode() if known else b"{}"
        self.send_response(200 if known else 404)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", '"0123456789"')
        self.send_header("Content-Length", str(len(body)))
        if not known:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Hub.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def get(address: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "txcalc", "get", address, "params.total"],
        env={"HF_HOME": str(folder), "PATH": "", **environment},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("address", ["hf:org/small", "hf:org/small@v2"])
def test_the_config_alone_is_fetched(address: str, endpoint: str, tmp_path: Path) -> None:
    ran = get(address, tmp_path, HF_ENDPOINT=endpoint)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{TOTAL}\n", "")
    fetched = [path for path in Hub.asked if path.startswith("/org/")]
    assert fetched
    assert all(path.endswith("/config.json") for path in fetched)


def test_an_unknown_repository_is_told_once(endpoint: str, tmp_path: Path) -> None:
    ran = get("hf:org/none", tmp_path, HF_ENDPOINT=endpoint)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "save the repository's config.json and pass that file" in ran.stderr


def test_without_a_network_the_file_is_asked_for(tmp_path: Path) -> None:
    ran = get("hf:org/small", tmp_path, HF_ENDPOINT="http://127.0.0.1:9")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "save the repository's config.json and pass that file" in ran.stderr


def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "huggingface_hub.py").write_text("raise ImportError\n", encoding="utf-8")
    ran = get("hf:org/small", tmp_path, PYTHONPATH=str(tmp_path))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "txcalc[hub]" in ran.stderr


@pytest.mark.parametrize("address", ["hf:", "hf:small", "hf:org/", "hf:a/b/c"])
def test_an_address_without_a_repository(address: str, tmp_path: Path) -> None:
    ran = get(address, tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "hf:org/name" in ran.stderr
