"""Task heads: what a class for a task puts on a body in place of a language-model head.

Source: the public classes of transformers 5.24; of the reward models, their repositories.
"""

from __future__ import annotations

from typing import Literal, get_args

from txcalc.sources.families import USUAL
from txcalc.sources.families.wrappers import WRAPPERS
from txcalc.sources.readers.config import Config, TaskHead, Tree
from txcalc.sources.readers.labels import n_labels
from txcalc.sources.readers.refusals import refuse_false
from txcalc.sources.readers.trees import dense, layer_norm, noted, tensor

Form = Literal["score", "plain", "pooled", "dense", "context", "normed", "summary"]
"""A matrix without a bias (``score``) or with one (``plain``), the same behind the body's pooler
(``pooled``), behind a dense layer (``dense``), behind one of a width of its own (``context``),
behind a dense layer and a norm (``normed``), or behind a summary layer if the file wants one."""

_SEQUENCE = """
pooled: albert bert ernie fnet layoutlm luke megatron-bert mobilebert rembert roc_bert squeezebert
pooled: tapas
dense: big_bird camembert convbert data2vec-text distilbert electra esm esmc eurobert funnel gte
dense: ibert jina_embeddings_v3 longformer mpnet mra nomic_bert nystromformer reformer roberta
dense: roberta-prelayernorm roformer xlm-roberta xlm-roberta-xl xlnet xmod yoso
context: deberta deberta-v2
normed: modernbert modernbert-decoder
plain: flaubert t5gemma t5gemma2 ultrabert ultravbert xlm
"""
_CHOICE = """
pooled: albert bert big_bird camembert data2vec-text ernie fnet ibert longformer luke megatron-bert
pooled: mobilebert mpnet rembert roberta roberta-prelayernorm roc_bert squeezebert xlm-roberta
pooled: xlm-roberta-xl xmod
dense: distilbert funnel mra nystromformer yoso
context: deberta-v2
normed: modernbert
summary: convbert electra roformer xlnet
"""
_NEXT_SENTENCE = "\npooled: bert ernie fnet megatron-bert mobilebert\n"
_EACH_TOKEN = "\nnormed: modernbert\n"
_REWARD = "\ndense: qwen2\nscore: internlm2\n"


def _forms(table: str) -> dict[str, Form]:
    """model_type -> form."""
    forms: dict[str, Form] = {form: form for form in get_args(Form)}
    lines = (line.split(": ") for line in table.split("\n") if line)
    return {type_: forms[form] for form, types in lines for type_ in types.split()}


_FORMS: dict[TaskHead, dict[str, Form]] = {
    "sequence": _forms(_SEQUENCE),
    "tokens": _forms(_EACH_TOKEN),
    "span": _forms(_EACH_TOKEN),
    "choice": _forms(_CHOICE),
    "next_sentence": _forms(_NEXT_SENTENCE),
    "reward": _forms(_REWARD),
    "process_reward": _forms(_REWARD),
}
"""The forms of the public classes, by task and type."""

_REFUSED: dict[TaskHead, tuple[str, ...]] = {
    "tokens": ("modernvbert", "perceiver", "qwen3_asr", "reformer", "t5gemma", "t5gemma2"),
    "span": ("big_bird", "fsmt", "modernvbert", "perceiver", "t5gemma", "t5gemma2"),
}
"""Types whose class for a task is of no form here, or takes another body."""

_PAIRS_WITH_TOKENS = ("mt5", "t5", "umt5")
"""The pairs of encoder and decoder that classify tokens, with the encoder alone."""

_ONCE: tuple[TaskHead, ...] = ("sequence", "choice", "next_sentence", "reward")
"""The heads that multiply one token of each sequence; the others multiply every token."""

_WORDS: dict[TaskHead, str] = {
    "sequence": "a classifier of sequences",
    "tokens": "a classifier of tokens",
    "span": "the start and end of an answer",
    "choice": "the score of a choice",
    "next_sentence": "a classifier of pairs of sentences",
    "reward": "the reward of a sequence",
    "process_reward": "the reward of a step, computed at every token",
}


def has_pooler(type_: str, head: TaskHead | None) -> bool:
    """Whether the body keeps its pooler: bare, or where the head reads it."""
    return head is None or _form(type_, head) == "pooled"


def with_head(tree: Tree, c: Config, head: TaskHead) -> Tree:
    """The description of a body with the head for a task.

    Raises:
        RefusedError: a type whose class for the task is not known.
    """
    form = _form(c.type, head)
    if form is None:
        c.unsupported(f"the class {c.class_!r} of type {c.type!r}")
    rows = _rows(c, head)
    stream = {"stream": "sequence"} if head in _ONCE else {}
    tensors = {
        name: row | stream if row["use"] == "matmul" else row
        for name, row in _tensors(c, form, rows, _width(c, tree)).items()
    }
    tree = tree | {"tensors": tree.get("tensors", {}) | tensors}
    return noted(tree, f"head: {_WORDS[head]}, {rows} output{'s' * (rows > 1)}")


def _form(type_: str, head: TaskHead) -> Form | None:
    """The form of a type's head; None where it is not known."""
    if type_ in _REFUSED.get(head, ()):
        return None
    if type_ in _FORMS[head]:
        return _FORMS[head][type_]
    usual = "causal" if type_ in WRAPPERS else USUAL[type_]
    match head:
        case "sequence" if usual != "masked":
            return "score" if usual == "causal" else "dense"
        case "tokens" if usual != "conditional" or type_ in _PAIRS_WITH_TOKENS:
            return "plain"
        case "span":
            return "plain"
        case _:
            return None


def _rows(c: Config, head: TaskHead) -> int:
    """The outputs of a head."""
    match head:
        case "choice" | "reward":
            return 1
        case "next_sentence" | "process_reward":
            return 2
        case "span":
            return n_labels(c) if USUAL[c.type] == "masked" else 2
        case "sequence" | "tokens":
            return n_labels(c)


def _width(c: Config, tree: Tree) -> int | str:
    """Channels that the body ends with."""
    if "project_out" in tree.get("tensors", {}):
        narrow: int = tree["embedding"]["d_embed"]
        return narrow
    return "2*d_model" if c.type == "reformer" else "d_model"


def _tensors(c: Config, form: Form, rows: int, width: int | str) -> Tree:
    """The head's tensors."""
    match form:
        case "score":
            return {"score": tensor("matmul", rows, width)}
        case "plain" | "pooled":
            if c.type in ("flaubert", "xlm"):
                refuse_false(c, "summary_use_proj", "summary_proj_to_labels")
            return dense("classifier", rows, width)
        case "dense":
            return dense("dense", "d_model", width) | dense("classifier", rows, "d_model")
        case "context":
            inner = c.size("pooler_hidden_size", default=c.size("hidden_size"))
            return dense("dense", inner, inner) | dense("classifier", rows, "d_model")
        case "normed":
            return _normed(c, rows)
        case "summary":
            summed = c.flag("summary_use_proj", default=c.type in ("electra", "xlnet"))
            before = dense("dense", "d_model", "d_model") if summed else {}
            return before | dense("classifier", rows, "d_model")


def _normed(c: Config, rows: int) -> Tree:
    """ModernBERT's head, whose biases are flags; the decoder's output has one by the same."""
    bias = c.flag("classifier_bias", default=False)
    norm = layer_norm("dense_norm")
    if not c.flag("norm_bias", default=False):
        del norm["dense_norm_bias"]
    outputs = dense("classifier", rows, "d_model", bias=bias or c.type == "modernbert")
    return dense("dense", "d_model", "d_model", bias=bias) | norm | outputs
