"""Files that lie beside a model's config.json: what each is, and which file is wanted instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WANTED = "the model's config.json is wanted"

_BINARY = {
    b"GGUF": "a GGUF file",
    b"PK\x03\x04": "a PyTorch checkpoint or another zip file",
    b"\x80\x02": "a pickled PyTorch checkpoint",
    b"\x89HDF": "an HDF5 checkpoint",
}

_KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("a diffusers pipeline (model_index.json) or a part of one", ("_diffusers_version",)),
    ("a diffusers pipeline (model_index.json) or a part of one", ("_class_name",)),
    ("an index of safetensors or PyTorch files", ("weight_map",)),
    ("a dump of a GGUF file", ("general.architecture",)),
    ("a dump of a GGUF file", ("metadata", "tensors")),
    ("a tokenizer (tokenizer.json)", ("added_tokens", "pre_tokenizer")),
    ("a tokenizer's config", ("added_tokens_decoder",)),
    ("a tokenizer's config", ("tokenizer_class",)),
    ("a tokenizer's config", ("model_max_length",)),
    ("a config of images or sound (preprocessor_config.json)", ("image_processor_type",)),
    ("a config of images or sound (preprocessor_config.json)", ("feature_extractor_type",)),
    ("a config of images or sound (preprocessor_config.json)", ("processor_class",)),
    ("a config of sentence-transformers", ("__version__",)),
    ("a quantisation config", ("quantization", "producer")),
    ("a quantisation config", ("quant_method",)),
    ("a quantisation config", ("bits", "group_size")),
    ("a quantisation config", ("w_bit",)),
    ("a generation config", ("_from_model_config",)),
    ("a generation config", ("do_sample",)),
    ("a generation config", ("eos_token_id", "transformers_version")),
)
"""What a file is that has these keys and no model_type; the first that fit count."""


def other_file(tree: Mapping[str, Any]) -> str:
    """What a JSON object is that is no model's config, and what is wanted; empty if not known."""
    if "peft_type" in tree:
        base = tree.get("base_model_name_or_path")
        whose = f" of its base model {base}" if isinstance(base, str) and base else " of its base"
        return f"an adapter's config ({tree['peft_type']}): the config.json{whose} is wanted"
    if any(size in tree for size in ("hidden_size", "d_model", "n_embd", "num_hidden_layers")):
        return ""
    for what, keys in _KEYS:
        if all(key in tree for key in keys):
            return f"{what}: {WANTED}"
    return ""


def other_binary(raw: bytes) -> str:
    """What a file is by its first bytes, and what is wanted; empty if not known."""
    for magic, what in _BINARY.items():
        if raw.startswith(magic):
            return f"{what}: {WANTED}"
    header = raw[8:10] == b'{"' and int.from_bytes(raw[:8], "little") < 2**32
    return f"a safetensors file: {WANTED}" if header else ""
