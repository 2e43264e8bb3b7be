"""``hf:org/name``: headers by ranges from a server of our own on the loopback address."""

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

from tests.support.checkpoints import LLAMA, llama_header, written

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(BaseHTTPRequestHandler):
    """One repository, whose files are asked for whole or by ranges."""

    files: ClassVar[dict[str, bytes]] = {}
    sent: ClassVar[dict[str, int]] = {}

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        name = self.path.rpartition("/resolve/main/")[2]
        body = self.files.get(name)
        if body is None:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        asked = self.headers.get("Range")
        first, last = 0, len(body) - 1
        if asked:
            first, last = (int(n) for n in asked.removeprefix("bytes=").split("-"))
        part = body[first : last + 1]
        self.send_response(206 if asked else 200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", '"0123456789"')
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if with_body:
            self.sent[name] = self.sent.get(name, 0) + len(part)
            self.wfile.write(part)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Hub.files, Hub.sent = {"config.json": json.dumps(LLAMA).encode()}, {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def verify(endpoint: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "txcalc", "verify", "hf:org/small", "--format", "json"],
        env={"HF_HOME": str(folder), "PATH": "", "HF_ENDPOINT": endpoint},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_no_more_than_the_header_is_fetched(endpoint: str, tmp_path: Path) -> None:
    file = written(tmp_path / "model.safetensors", llama_header(LLAMA)).read_bytes()
    Hub.files["model.safetensors"] = file
    ran = verify(endpoint, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    [read] = json.loads(ran.stdout)
    figures = {row["address"]: row["value"] for row in read["rows"]}
    assert figures["verify.tensors"] == len(llama_header(LLAMA))
    assert Hub.sent["model.safetensors"] == 8 + int.from_bytes(file[:8], "little")


def test_shards_are_fetched_by_their_headers(endpoint: str, tmp_path: Path) -> None:
    header = llama_header(LLAMA)
    names = list(header)
    weight_map = {}
    for shard, part in {"1.safetensors": names[:9], "2.safetensors": names[9:]}.items():
        at = header[part[0]]["data_offsets"][0]
        moved = {
            name: {**header[name], "data_offsets": [n - at for n in header[name]["data_offsets"]]}
            for name in part
        }
        Hub.files[shard] = written(tmp_path / shard, moved).read_bytes()
        weight_map |= dict.fromkeys(part, shard)
    index = json.dumps({"weight_map": weight_map}).encode()
    Hub.files["model.safetensors.index.json"] = index
    ran = verify(endpoint, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    for shard in ("1.safetensors", "2.safetensors"):
        assert Hub.sent[shard] == 8 + int.from_bytes(Hub.files[shard][:8], "little")


def test_a_repository_without_safetensors_files(endpoint: str, tmp_path: Path) -> None:
    ran = verify(endpoint, tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "no model.safetensors and no model.safetensors.index.json" in ran.stderr


def test_a_damaged_file_of_a_repository(endpoint: str, tmp_path: Path) -> None:
    Hub.files["model.safetensors"] = b"\xff" * 100
    ran = verify(endpoint, tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "hf:org/small/model.safetensors" in ran.stderr
