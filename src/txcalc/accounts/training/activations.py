"""What a step of training keeps for its backward pass, tensor by tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from txcalc.accounts.fold import Leaves, fold, run
from txcalc.accounts.setting import Setting
from txcalc.accounts.training.work import sequences
from txcalc.errors import OptionError, RefusedError
from txcalc.exact.quantity import ONE, TWO, Letter, Quantity, product
from txcalc.model.model import Layers
from txcalc.model.parts.attention import MultiHead
from txcalc.model.parts.base import Part, read
from txcalc.model.parts.ffn import Plain
from txcalc.model.parts.norm import Norm
from txcalc.model.saved import Keeping, Kept, Saved
from txcalc.model.structure import Stack
from txcalc.report.report import Figures
from txcalc.workload.formats import size
from txcalc.workload.passes import Workload
from txcalc.workload.reach import ALL

_BESIDE = ("embedding", "final_norm", "head")
_COMPUTE = {"bf16": "bf16", "fp32": "fp32", "autocast": "bf16"}
_STREAM = {"bf16": "bf16", "fp32": "fp32", "autocast": "fp32"}


class Activations:
    """The saved tensors of a model, as PyTorch's autograd keeps them on a GPU.

    Measured with torch 2.14.1: distinct storages between forward and backward, without parameters,
    inputs and the loss.

    Raises:
        RefusedError: a part, an arrangement or a combination that no measurement confirms.
        OptionError: options that contradict each other.
    """

    def __init__(self, setting: Setting) -> None:
        question = setting.question
        self._model, self._question = setting.model, question
        asked = setting.workload("prefill")
        batch = sequences(msgspec.structs.replace(question, microbatches=1, dp=1))
        self.workload: Workload = msgspec.structs.replace(
            asked, batch=batch, scores="square", logits="all"
        )
        self._given = setting.passes(self.workload)["main"]
        self._check()
        self._how = Keeping(
            kernel=question.attention,
            dropout=question.drops,
            casts=question.recipe == "autocast",
            upcast=question.norms == "upcast",
            rotary=self._is_rotary,
            is_fp32=question.recipe == "fp32",
        )

    @cached_property
    def figures(self) -> Figures:
        """Each tensor of a layer, their sums, and all of it, in bytes."""
        costs: Leaves = {
            "embedding": self._bytes(self._of_embedding()),
            "final_norm": self._bytes(self._of_norm(self._stack.final_norm)),
            "head": self._bytes(self._of_head()),
        }
        for kind in self._model.layers:
            costs[f"block.{kind.name}"] = self._of_layer(kind)
        return fold("trainmem.activations", self._model, costs, run, _BESIDE, "bytes")

    def _of_layer(self, kind: Layers) -> dict[str, Quantity]:
        if self._question.recompute in ("block", "full"):
            return self._bytes([Saved(name="input", dims=(kind.d_model,), fmt="stream")])
        rows = list(self._of_block(kind))
        if self._question.recompute == "selective":
            rows = [row for row in rows if not row.core]
        return self._bytes(rows) | self._casts(kind)

    def _of_block(self, kind: Layers) -> Iterator[Saved]:
        """Norms, parts and masks of one layer, in the order in which they run."""
        for role, part, slot in kind.block.parts(kind.d_model):
            for row in self._of_norm(kind.block.norm):
                yield msgspec.structs.replace(row, name=f"norms.before_{role}.{row.name}")
            saved = part.saved(slot, self._how)
            if saved is None:
                raise self._unknown(kind, part)
            if self._how.dropout:
                saved.append(Saved(name="mask", dims=(kind.d_model,), fmt="byte"))
            for row in saved:
                yield msgspec.structs.replace(row, name=f"{role}.{row.name}")

    def _of_norm(self, norm: Norm) -> Iterator[Saved]:
        """The input and its statistics; of a norm that is written out what it multiplies."""
        if norm == "none":
            return
        width: tuple[Quantity, ...] = (self._model.d_model,)
        statistics = ONE if norm == "rms" else TWO
        if self._how.upcast:
            yield Saved(name="upcast", dims=width, fmt="fp32")
            yield Saved(name="normed", dims=width)
        else:
            yield Saved(name="input", dims=width, fmt="stream")
        if self._question.inventory == "torch":
            yield Saved(name="statistics", dims=(statistics,), fmt="fp32")

    def _of_embedding(self) -> Iterator[Saved]:
        if self._how.dropout:
            yield Saved(name="mask", dims=(self._model.d_model,), fmt="byte")

    def _of_head(self) -> Iterator[Saved]:
        """The head's input, and the log-probabilities of the loss with their weight."""
        vocab = self._model.vocab
        assert vocab is not None
        casts = self._how.casts
        fmt: Kept = "fp32" if casts or self._question.logits_fp32 else "compute"
        yield from read("input", self._model.d_model, self._how, 1)
        if casts:
            yield Saved(name="logits", dims=(vocab,))
            yield Saved(name="output_cast", dims=(vocab, self._model.d_model), span="once")
        yield Saved(name="log_probabilities", dims=(vocab,), fmt=fmt)
        yield Saved(name="loss_weight", dims=(ONE,), fmt=fmt, span="once")

    def _casts(self, kind: Layers) -> dict[str, Quantity]:
        """The copies of weights that products read where they are cast."""
        if not self._how.casts:
            return {}
        return self._bytes(
            Saved(name=f"{name}_cast", dims=(row.copies, row.each), span="once")
            for name, row in kind.weights.items()
            if row.use == "matmul"
        )

    def _bytes(self, rows: Iterable[Saved]) -> dict[str, Quantity]:
        return {row.name: self._held(row) for row in rows}

    def _held(self, row: Saved) -> Quantity:
        given = self._given
        spans = {"tokens": given.tokens, "pairs": given.attended(ALL), "once": ONE}
        elements = product(row.copies, spans[row.span], *row.dims).counted_as("elements")
        return product(self._sizes[row.fmt], elements)

    @cached_property
    def _sizes(self) -> dict[Kept, Quantity]:
        recipe = self._question.recipe
        formats: dict[Kept, tuple[str, str]] = {
            "compute": (_COMPUTE[recipe], "compute_bytes"),
            "stream": (_STREAM[recipe], "stream_bytes"),
            "fp32": ("fp32", "fp32_bytes"),
            "byte": ("int8", "mask_bytes"),
        }
        sizes: dict[Kept, Quantity] = {
            kept: size(fmt, letter, "elements") for kept, (fmt, letter) in formats.items()
        }
        index = Letter(8, "index_bytes", unit="bytes/element", about="bytes of an index in int64")
        return sizes | {"int64": index}

    @property
    def _stack(self) -> Stack:
        return next(iter(self._model.stacks.values()))

    @property
    def _is_rotary(self) -> bool:
        return self._positions == "rotary"

    @property
    def _positions(self) -> str:
        positions = self._stack.positions
        return "none" if positions is None else str(positions.__struct_config__.tag)

    def _check(self) -> None:
        model, question = self._model, self._question
        if list(model.stacks) != ["decoder"] or model.head is None or model.vocab is None:
            raise RefusedError(f"{model.name}: activations are measured of decoders with a head")
        if model.head.transform or model.head.bias or model.head.d_head or model.embedding:
            raise RefusedError(f"{model.name}: activations of its embedding or head are not known")
        if model.mtp is not None or self._stack.embedding_norm != "none":
            raise RefusedError(f"{model.name}: activations of its modules are not known")
        if self._positions not in ("rotary", "learned"):
            raise RefusedError(
                f"{model.name}: activations are measured with rotary or learned positions"
            )
        if question.recompute == "selective" and question.attention == "flash":
            raise OptionError("--recompute selective saves nothing under flash attention")
        if question.norms == "upcast" and question.recipe != "bf16":
            raise RefusedError("--norms upcast is measured with --recipe bf16 alone")
        for kind in model.layers:
            self._check_block(kind)

    def _check_block(self, kind: Layers) -> None:
        """Refuses what stands beside the parts, and combinations that were not measured."""
        block, question = kind.block, self._question
        beside = block.residual or block.shared or block.loops or block.tensors
        if block.placement != "pre" or beside or block.roles != ["attention", "ffn"]:
            raise RefusedError(
                f"{self._model.name}: activations of the arrangement of block {kind.name!r} are "
                "not measured: attention and ffn behind a norm each are"
            )
        if question.norms == "upcast" and block.norm != "rms":
            raise RefusedError(f"{self._model.name}: --norms upcast is about RMSNorm alone")
        attention, ffn = block.attention, block.ffn
        if question.drops and (self._is_rotary or not isinstance(ffn, Plain)):
            raise RefusedError(
                f"{self._model.name}: --dropout is measured with a plain FFN and without rotary "
                "positions"
            )
        is_one = attention.kv_heads.value == 1 if isinstance(attention, MultiHead) else False
        if question.attention == "eager" and is_one and self.workload.batch.value == 1:
            raise RefusedError(
                f"{self._model.name}: eager attention with one KV head is not measured for a "
                "--micro-batch of 1: take --attention flash"
            )

    def _unknown(self, kind: Layers, part: Part) -> RefusedError:
        tag = part.__struct_config__.tag
        return RefusedError(
            f"{self._model.name}: blocks.{kind.name}: what kind {tag!r} keeps for a backward pass "
            "is not measured in this form; --recompute block needs only a block's input"
        )
