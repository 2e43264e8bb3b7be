"""``hf:org/name[@revision]``: a repository's config.json, and nothing else of it."""

from __future__ import annotations

import os
from typing import Any

from txcalc.errors import UnknownModelError

PREFIX = "hf:"
INSTEAD = "; or save the repository's config.json and pass that file"


def fetch(address: str) -> str:
    """The path of the config.json, fetched into the Hub client's own cache.

    Raises:
        UnknownModelError: without the extra, the network, or such a repository.
    """
    repository, revision = located(address)
    hub, file = client(address), "config.json"
    try:
        # Asked first, since a download without network tries again for half a minute.
        hub.get_hf_file_metadata(hub.hf_hub_url(repository, file, revision=revision))
        path: str = hub.hf_hub_download(repository, file, revision=revision)
    except Exception as error:
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UnknownModelError(f"{address}: cannot be fetched: {why}{INSTEAD}") from None
    return path


def located(address: str) -> tuple[str, str | None]:
    """The repository of an address, and its revision where one is named.

    Raises:
        UnknownModelError: an address that names no repository.
    """
    repository, _, revision = address.removeprefix(PREFIX).partition("@")
    if repository.count("/") != 1 or not all(repository.split("/")):
        raise UnknownModelError(f"{address!r}: hf:org/name or hf:org/name@revision is needed")
    return repository, revision or None


def client(address: str) -> Any:
    """The Hub's client, imported only now.

    Raises:
        UnknownModelError: without the extra.
    """
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        import huggingface_hub
    except ImportError:
        raise UnknownModelError(
            f"{address}: needs the extra txcalc[hub] (huggingface_hub){INSTEAD}"
        ) from None
    return huggingface_hub
