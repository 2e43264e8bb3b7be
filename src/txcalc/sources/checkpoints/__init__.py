"""Headers of weights files: safetensors, folders of them, GGUF, and repositories of the Hub."""

from __future__ import annotations

import os

from txcalc.errors import DescriptionError
from txcalc.sources.hub import PREFIX
from txcalc.workload.checkpoint import Checkpoint

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", "pytorch_model.bin.index.json")


def load_checkpoint(path: str) -> Checkpoint:
    """The headers of a ``.safetensors`` or ``.gguf`` file, a folder, an index, or ``hf:org/name``.

    Raises:
        DescriptionError: no such file, one that is damaged, or one of another kind.
        UnknownModelError: a repository that cannot be reached.
    """
    if path.startswith(PREFIX):
        from txcalc.sources.checkpoints.remote import repository

        return repository(path)
    if path.endswith(_PICKLED):
        _refuse_pickle(path)
    if os.path.isdir(path):
        return _folder(path)
    if path.endswith(".json"):
        from txcalc.sources.checkpoints.index import indexed

        return indexed(path)
    from txcalc.sources.checkpoints.pieces import file_of

    with file_of(path) as file:
        return _by_its_first_bytes(path, file.piece(0, min(8, file.size)))


def _by_its_first_bytes(path: str, magic: bytes) -> Checkpoint:
    if magic.startswith(b"GGUF"):
        from txcalc.sources.checkpoints.gguf import gguf_checkpoint

        return gguf_checkpoint(path)
    if magic.startswith((b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")):
        _refuse_pickle(path)
    from txcalc.sources.checkpoints.safetensors import single

    return single(path)


def _folder(path: str) -> Checkpoint:
    """The checkpoint in a folder: the shards of its index, or its only weights file."""
    names = sorted(os.listdir(path))
    files = [name for name in names if name.endswith((".safetensors", ".gguf"))]
    if INDEX in names:
        from txcalc.sources.checkpoints.index import indexed

        return indexed(os.path.join(path, INDEX))
    if SINGLE in files or len(files) == 1:
        return load_checkpoint(os.path.join(path, SINGLE if SINGLE in files else files[0]))
    if files:
        raise DescriptionError(f"several weights files: name one of {', '.join(files)}", where=path)
    for name in names:
        if name.endswith(_PICKLED):
            _refuse_pickle(os.path.join(path, name))
    raise DescriptionError(f"no {SINGLE}, no {INDEX} and no .gguf file is in it", where=path)


def _refuse_pickle(path: str) -> None:
    raise DescriptionError(
        "a pickled checkpoint: to read it runs what is in it. Convert it, as "
        "safetensors.torch.save_file(torch.load(FILE, weights_only=True), 'model.safetensors'), "
        "and pass that file",
        where=path,
    )


def model_beside(path: str) -> str:
    """The description of a checkpoint that is named alone: its own, or the config.json beside it.

    Raises:
        DescriptionError: there is none.
    """
    if path.startswith(PREFIX) or path.endswith(".gguf"):
        return path
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    config = os.path.join(folder, "config.json")
    if not os.path.exists(config):
        raise DescriptionError("no config.json lies beside it: name the MODEL first", where=path)
    return config
