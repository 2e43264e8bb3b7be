"""What the words of a tensor's name, or of a row's, say of it.

They decide between tensors of one shape, and name what is matched; of an index without shards they
are all there is.  The words are those of the field, not of one lineage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice

Concepts = frozenset[str]

_NORM = "(layer_?norm|norm|ln)"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PHRASES = tuple(
    (re.compile(rf"(?<![a-z0-9]){phrase}(?![a-z0-9])"), concept)
    for phrase, concept in (
        ("(dense_)?h_to_4h", "up"),
        ("(dense_)?4h_to_h", "down"),
        ("dense_(relu|gated|act)[a-z]*_dense|dense_relu_dense", "ffn"),
        ("wi_0", "gate"),
        ("wi_1", "up"),
        ("(c_fc|fc_in|w_in|wi|intermediate)", "up"),
        ("(fc|lin|linear|dense|ffn|w|layer)(1|_1)", "up"),
        ("(fc_out|w_out)", "down"),
        ("(fc|lin|linear|dense|ffn|w|layer)(2|_2)", "down"),
        ("w?q_a", "q_down"),
        ("w?q_b", "q_up"),
        ("w?kv_a", "kv_down"),
        ("w?kv_b", "kv_up"),
        ("c_attn", "attention_qkv"),
        ("c_proj", "out"),
        ("(relative_attention_bias|rel_pos_bias|relative_attention|relative_bias)", "positions"),
        ("(token_type|type_embeddings|segment_embeddings|language_embeddings)", "types"),
        ("(e_score_correction|score_correction|expert|exp_probs)_(bias|b)", "router_bias"),
        ("gate_inp", "router"),
        ("(shared_expert_gate|gate_inp_shexp)", "shared_score"),
        ("(encoder_attn|enc_dec(_attention)?|cross_?attn|crossattention|inter_attention)", "cross"),
        ("(lm_head|embed_out)", "head"),
        ("decoder(?=_(weight|bias)$)", "head"),
        ("^output(?=_(weight|bias)$)", "head_out"),
        (f"(input|pre_attention|attn)_{_NORM}", "norm_before_attention"),
        (f"({_NORM}_?1)", "norm_before_attention"),
        (f"({_NORM}_?2)", "norm_before_ffn"),
        (f"(pre_feedforward|pre_mlp|ffn|pre_ff)_{_NORM}", "norm_before_ffn"),
        (f"(post_feedforward|post_mlp|post_ffw|post_ffn)_{_NORM}", "norm_after_ffn"),
        (f"post_attention_{_NORM}", "norm_after_attention"),
    )
)  # fmt: skip
"""Words that mean something together, and what."""
_WORDS = {
    word: frozenset(meaning.split())
    for words, meaning in (
        ("attn attention self selfattention sa mha", "attention"),
        ("cross xattn encdec", "cross"),
        ("mlp ffn ff ffw feedforward feed moe", "ffn"),
        ("expert experts exps", "experts"),
        ("shared shexp", "shared"),
        ("router switch", "router"),
        ("norm layernorm ln rmsnorm norms layernorms", "norm"),
        ("q query wq queries", "q"),
        ("k key wk keys", "k"),
        ("v value wv values", "v"),
        ("kv", "k v"),
        ("qk", "q k"),
        ("qkv wqkv", "q k v"),
        ("qkvz", "q k v gate"),
        ("ba", "b a"),
        ("o wo out output dense", "out"),
        ("gate w1 g gating", "gate"),
        ("up w3", "up"),
        ("down w2", "down"),
        ("bias b_bias beta", "bias"),
        ("embed embedding embeddings embd emb wte tok tokens token word embeddings1", "tokens"),
        ("wpe pos position positions positional", "positions"),
        ("types type", "types"),
        ("head predictions score", "head"),
        ("encoder", "encoder"),
        ("decoder", "decoder"),
        ("transform", "transform"),
        ("patch patches", "patch"),
        ("indexer", "indexer"),
        ("sinks sink", "sinks"),
        ("conv conv1d short", "conv"),
        ("before pre input", "before"),
        ("after post", "after"),
        ("final f last", "final"),
        ("in", "in"),
        ("x", "x"),
        ("dt", "dt"),
        ("a", "a"),
        ("b", "b"),
        ("d", "d"),
        ("log", "log"),
        ("latent", "latent"),
        ("scale scales", "scale"),
        ("zero", "zero"),
        ("pooler", "pooler"),
        ("mtp nextn", "mtp"),
        ("rope", "rope"),
        ("lambda", "lambda"),
    )
    for word in words.split()
}
_PLAIN = frozenset(
    re.findall(
        r"\w+",
        """weight bias gamma beta kernel model transformer language text lm base net core backbone
        layer layers block blocks w1 w2 proj projection projector project pred vocab hidden mapping
        relative segment generator heads local loss logits unembed classifier dense table inp out
        fn sparse mixer group class register registers mask probe logit temperature newline soft
        vision visual vlm image text audio separator standard""",
    )
)
"""Further words of names, which say nothing of what a tensor holds."""
_GATE = re.compile(r"(^|[./])gate\.[a-z_]+$")
"""A module called gate alone, which in a mixture is the router."""


_COMPUTED = re.compile(
    r"(inv_freq|masked_bias|position_ids|token_type_ids|freqs_cis|rotary_emb|rope_freqs|"
    r"(cos|sin)_cached|rope_factors_(long|short)|num_batches_tracked|(x_(min|max)|_scaling_factor|_integer)$)"
)
"""Tensors that are computed, not learned."""


_SCALES = re.compile(
    r"[._](scales?|scale_inv|zeros|qzeros|g_idx|absmax|(nested_)?quant_(map|state)[\w.]*|"
    r"nested_absmax|scb|weight_(scale(_inv|_2)?|shape|zero_point|format)|"
    r"(input|output|k|v)_scale)$",
    re.IGNORECASE,
)
"""What quantisation keeps beside a weight."""


def is_scale(name: str) -> bool:
    """Whether a name is that of what quantisation keeps beside a weight."""
    return _SCALES.search(name) is not None


def is_computed(name: str) -> bool:
    """Whether a name is that of what is computed, as positions and frequencies are."""
    return _COMPUTED.search(name) is not None


def _written(name: str) -> str:
    """A name in small letters, its words apart."""
    return re.sub(r"[^a-z0-9]+", "_", _HUMP.sub("_", name).lower())


def is_strange(name: str, all_names: Iterable[str]) -> bool:
    """Whether a name has a word that no other tensor's has, and that is none of the field's."""
    for written in _written(name).split("_"):
        word = written.rstrip("0123456789")
        if len(word) < 2 or word in _PLAIN or word in _WORDS:
            continue
        if sum(1 for _ in islice((n for n in all_names if word in n.lower()), 2)) < 2:
            return True
    return False


@cache
def concepts(name: str) -> Concepts:
    """What a name speaks of, each word once, in words of its own."""
    text = _written(name)
    for phrase, concept in _PHRASES:
        text = phrase.sub(concept, text)
    spoken: set[str] = set()
    for word in text.split("_"):
        spoken |= _WORDS.get(word, frozenset())
    if _GATE.search(name) and "attention" not in spoken:
        spoken |= {"router"}
    if "shared" in spoken:
        spoken.discard("experts")
    return frozenset(spoken)


def likeness(left: Concepts, right: Concepts) -> float:
    """How much two names speak of the same: 1 for all of it, 0 for nothing."""
    if not left or not right:
        return 0.0
    return 2 * len(left & right) / (len(left) + len(right))
