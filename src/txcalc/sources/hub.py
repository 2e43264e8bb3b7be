"""``hf:org/name[@revision]``: a repository's config.json, and nothing else of it."""

from __future__ import annotations

import os

from txcalc.errors import UnknownModelError

PREFIX = "hf:"
INSTEAD = "; or save the repository's config.json and pass that file"


def fetch(address: str) -> str:
    """The path of the config.json, fetched into the Hub client's own cache.

    Raises:
        UnknownModelError: without the extra, the network, or such a repository.
    """
    repository, _, revision = address.removeprefix(PREFIX).partition("@")
    if repository.count("/") != 1 or not all(repository.split("/")):
        raise UnknownModelError(f"{address!r}: hf:org/name or hf:org/name@revision is needed")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    except ImportError:
        raise UnknownModelError(
            f"{address}: needs the extra txcalc[hub] (huggingface_hub){INSTEAD}"
        ) from None
    file, asked = "config.json", revision or None
    try:
        # Asked first, since a download without network tries again for half a minute.
        get_hf_file_metadata(hf_hub_url(repository, file, revision=asked))
        return hf_hub_download(repository, file, revision=asked)
    except Exception as error:
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UnknownModelError(f"{address}: cannot be fetched: {why}{INSTEAD}") from None
