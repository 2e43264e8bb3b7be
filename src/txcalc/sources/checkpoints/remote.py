"""The headers of a repository's weights files, by requests for their ranges: ``hf:org/name``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from txcalc.errors import DescriptionError, UnknownModelError
from txcalc.sources.checkpoints.safetensors import tensors_of
from txcalc.sources.hub import client, located
from txcalc.workload.checkpoint import Checkpoint, StoredTensor

_WAIT = 30
"""Seconds that an answer may take."""
_LONGEST_INDEX = 100_000_000


def repository(address: str) -> Checkpoint:
    """The checkpoint of a repository: the shards of its index, or its only file.

    Raises:
        UnknownModelError: without the extra, the network, or such a repository.
        DescriptionError: a file that is damaged, or a repository without safetensors files.
    """
    from txcalc.sources.checkpoints import INDEX, SINGLE

    index = _file(address, INDEX)
    if index is None:
        single = _file(address, SINGLE)
        if single is None:
            raise DescriptionError(f"no {SINGLE} and no {INDEX} is in it", where=address)
        return Checkpoint(source=address, kind="safetensors", tensors=tensors_of(single))
    from txcalc.sources.checkpoints.index import read_index, sharded

    if index.size > _LONGEST_INDEX:
        raise DescriptionError(f"an index of {index.size:,} bytes", where=index.name)
    shards, total = read_index(index.piece(0, index.size), index.name)

    def header(shard: str) -> tuple[StoredTensor, ...]:
        file = _file(address, shard)
        if file is None:
            raise DescriptionError(f"its shard {shard} is missing", where=address)
        return tensors_of(file)

    return sharded(address, shards, total, header)


class _RemoteFile:
    """A file of a repository; each piece is one request."""

    def __init__(self, name: str, url: str, size: int, headers: dict[str, Any]) -> None:
        self.name, self.size = name, size
        self._url, self._headers = url, headers

    def piece(self, start: int, length: int) -> bytes:
        """So many bytes from a place."""
        from urllib.request import Request, urlopen

        if not length:
            return b""
        span = {"Range": f"bytes={start}-{start + length - 1}"}
        try:
            with urlopen(
                Request(self._url, headers={**self._headers, **span}), timeout=_WAIT
            ) as got:
                piece: bytes = got.read(length)
                is_span = got.status == 206 or (start == 0 and length == self.size)
        except OSError as error:
            raise UnknownModelError(f"{self.name}: cannot be fetched: {error}") from None
        if not is_span or len(piece) != length:
            raise UnknownModelError(f"{self.name}: the server does not send ranges of a file")
        return piece


def _file(address: str, name: str) -> _RemoteFile | None:
    """A file of a repository; None where there is none of that name."""
    hub = client(address)
    repository, revision = located(address)
    url = hub.hf_hub_url(repository, name, revision=revision)
    try:
        known = hub.get_hf_file_metadata(url)
    except hub.utils.EntryNotFoundError:
        return None
    except Exception as error:
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UnknownModelError(f"{address}: cannot be fetched: {why}") from None
    if known.size is None:
        raise UnknownModelError(f"{address}/{name}: the server does not say how long it is")
    # What a repository redirects to is signed, and refuses a token of the repository.
    is_here = urlsplit(known.location).netloc == urlsplit(url).netloc
    headers = hub.utils.build_hf_headers() if is_here else {}
    return _RemoteFile(f"{address}/{name}", known.location, known.size, headers)
