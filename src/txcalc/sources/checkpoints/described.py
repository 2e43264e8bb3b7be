"""The description of a GGUF file: sizes from its keys, and which tensors a layer has."""

from __future__ import annotations

import os
from typing import Any, NoReturn

from txcalc.errors import DescriptionError, RefusedError, nearest
from txcalc.sources.checkpoints.gguf import Array, Head, head_of
from txcalc.sources.checkpoints.pieces import file_of

LIKE_LLAMA = (
    "llama", "gemma", "granite", "internlm2", "olmo2", "phi3", "qwen2", "qwen2moe", "qwen3",
    "qwen3moe", "smollm3", "starcoder2",
)  # fmt: skip
"""Architectures whose layers are all alike: attention over all keys, and an FFN or a mixture."""
_UNREAD = (
    "leading_dense_block_count", "attention.kv_lora_rank", "ssm.state_size",
    "attention.shared_kv_layers", "nextn_predict_layers", "expert_shared_count",
)  # fmt: skip
"""Keys of mechanisms that such layers do not have."""
_PROJECTIONS = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output"}

Tree = dict[str, Any]


def described(path: str) -> Tree:
    """The description of a model that its GGUF file holds.

    Raises:
        DescriptionError: a file that is damaged, or that lacks a size.
        RefusedError: an architecture that is not like llama, or a file without tensors.
    """
    with file_of(path) as file:
        head = head_of(file)
    return _Described(path, head).tree()


class _Described:
    def __init__(self, path: str, head: Head) -> None:
        self._path, self._keys = path, head.keys
        self._tensors = {tensor.name: tensor for tensor in head.tensors}
        self._type = str(head.keys.get("general.architecture", ""))

    def tree(self) -> Tree:
        """The whole description."""
        self._refuse_others()
        block: Tree = {"norm": self._norm("blk.0.attn_norm" if self._has("attn_norm") else
                                          "blk.0.post_attention_norm")}  # fmt: skip
        if (placement := self._placement()) != "pre":
            block["placement"] = placement
        block |= {"attention": self._attention(), "ffn": self._ffn()}
        file = os.path.basename(self._path)
        return {
            "name": file.removesuffix(".gguf"),
            "source": f"{file} ({self._type})",
            "d_model": self._size("embedding_length"),
            "vocab": self._vocab(),
            "context": self._size("context_length"),
            "blocks": {"decoder": block},
            "layers": {
                "count": self._size("block_count"),
                "pattern": ["decoder"],
                "final_norm": self._norm("output_norm"),
                "positions": {"kind": "rotary"},
            },
            "head": {"tied": "output.weight" not in self._tensors},
            "notes": [f"GGUF architecture {self._type}"],
        }

    def _refuse_others(self) -> None:
        if self._type not in LIKE_LLAMA:
            known = nearest(self._type, list(LIKE_LLAMA))
            self._refuse(f"architecture {self._type!r} is not read from GGUF{known}")
        if not self._tensors:
            self._refuse("it holds a vocabulary alone: no tensor shows whether the head is tied")
        for key in _UNREAD:
            if self._keys.get(f"{self._type}.{key}"):
                self._refuse(f"{self._type}.{key} is not read from GGUF")

    def _attention(self) -> Tree:
        n_heads = self._size("attention.head_count")
        part: Tree = {
            "kind": "gqa", "n_heads": n_heads,
            "n_kv_heads": self._size("attention.head_count_kv", n_heads),
        }  # fmt: skip
        if width := self._size("attention.key_length", 0):
            part["head_dim"] = width
        if (values := self._size("attention.value_length", 0)) not in (0, width):
            part["v_dim"] = values
        if biased := [name for name, t in _PROJECTIONS.items() if self._has(t, "bias")]:
            part["bias"] = True if len(biased) == len(_PROJECTIONS) else biased
        if self._has("attn_qkv", "bias"):
            part["bias"] = ["q", "k", "v"]
        if self._has("attn_q_norm"):
            [width] = self._tensors["blk.0.attn_q_norm.weight"].shape or (0,)
            heads = part.get("head_dim", self._size("embedding_length") // n_heads)
            part["qk_norm"] = "head" if width == heads else "width"
        if window := self._size("attention.sliding_window", 0):
            part["window"] = window
        return part

    def _ffn(self) -> Tree:
        if n_experts := self._size("expert_count", 0):
            return self._mixture(n_experts)
        is_gated = self._has("ffn_gate") or self._type == "phi3"
        part: Tree = {"kind": "glu" if is_gated else "plain"}
        part["d_ff"] = self._size("feed_forward_length")
        if self._has("ffn_up", "bias"):
            part["bias"] = True
        return part

    def _mixture(self, n_experts: int) -> Tree:
        part: Tree = {
            "kind": "moe", "n_experts": n_experts, "top_k": self._size("expert_used_count"),
            "d_expert": self._size("expert_feed_forward_length", 0)
            or self._size("feed_forward_length"),
        }  # fmt: skip
        if self._has("ffn_up_shexp"):
            part["n_shared"] = 1
            part["d_shared"] = self._size("expert_shared_feed_forward_length")
            if self._has("ffn_gate_inp_shexp"):
                part["shared_gate"] = True
        return part

    def _placement(self) -> str:
        is_after = self._has("post_attention_norm") or self._has("attn_post_norm")
        if is_after:
            return "sandwich" if self._has("attn_norm") else "output"
        return "pre"

    def _norm(self, name: str) -> str:
        return "layer" if f"{name}.bias" in self._tensors else "rms"

    def _has(self, name: str, end: str = "weight") -> bool:
        return f"blk.0.{name}.{end}" in self._tensors

    def _vocab(self) -> int:
        """The rows of the token table, which may be more than there are tokens."""
        table = self._tensors.get("token_embd.weight")
        if table is None or table.shape is None or len(table.shape) != 2:
            self._refuse("it has no token_embd.weight")
        return table.shape[0]

    def _size(self, key: str, default: int | None = None) -> int:
        """A size; of a list with one for each layer, the one that all have."""
        path = f"{self._type}.{key}"
        value = self._keys.get(path, default)
        if isinstance(value, Array):
            if len(set(value.values)) != 1:
                self._refuse(f"{path} differs between layers")
            value = value.values[0]
        if isinstance(value, bool) or not isinstance(value, int):
            raise DescriptionError(f"the key {path} is missing, or no size", where=self._path)
        return value

    def _refuse(self, why: str) -> NoReturn:
        raise RefusedError(f"{self._path}: {why}: name a MODEL, as its config.json")
