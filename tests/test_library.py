"""The library's face: small, documented, typed, and the same numbers as the command line."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from mypy import api

import txcalc
from tests.sources.test_bad_descriptions import GOOD
from tests.support.checkpoints import header_of, in_memory
from tests.support.running import BUNDLED, get
from txcalc import library
from txcalc.accounts import registry
from txcalc.accounts.options import KNOWN
from txcalc.errors import RefusedError
from txcalc.library import answer as answers
from txcalc.library import options
from txcalc.workload.question import Question


def test_all_is_what_there_is() -> None:
    assert sorted(txcalc.__all__) == txcalc.__all__
    assert {*library.__all__, "TxcalcError"} == set(txcalc.__all__)
    for name in txcalc.__all__:
        thing = getattr(txcalc, name)
        assert inspect.getdoc(thing)
        assert all(p.annotation is not p.empty for p in inspect.signature(thing).parameters.values()
                   if p.name not in ("self", "args")) or name == "TxcalcError"  # fmt: skip
    with pytest.raises(AttributeError, match="zork"):
        _ = txcalc.zork


def test_importing_it_imports_little() -> None:
    code = "import sys, txcalc; print([m for m in ('rich', 'typer', 'yaml') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("model", ["gpt2-small", txcalc.load("gpt2-small")], ids=["name", "model"])
def test_a_model_or_its_name(model: Any) -> None:
    assert txcalc.params(model).total == 124439808
    assert txcalc.params(model).block.attention.matmul == 2359296
    assert txcalc.flops(model, ctx=1024).block.value == 17301504
    assert txcalc.get(model, "flops.total", ctx=1024) == get(
        "gpt2-small", "flops.total", "--ctx", 1024
    )
    assert txcalc.function(model, "kvcache.total", "ctx", "batch")(7, 3) == get(
        "gpt2-small", "kvcache.total", "--ctx", 7, "--batch", 3
    )
    assert txcalc.weights(model, dtype="fp32").bytes == 4 * 124439808
    assert txcalc.kvcache(model, ctx=10).total == get("gpt2-small", "kvcache.total", "--ctx", 10)
    assert txcalc.generation(model, prompt=20, new=100).tokens.ratio == Fraction(139, 2)
    assert txcalc.intensity(model, prompt=16).prefill == 16
    assert isinstance(txcalc.concurrency(model).ratio, Fraction)


def test_models_are_named_by_parts_of_names_and_kinds_of_parts() -> None:
    assert txcalc.models() == list(BUNDLED)
    assert txcalc.models("GPT2-") == ["gpt2-large", "gpt2-medium", "gpt2-small", "gpt2-xl"]
    assert "deepseek-v3" in txcalc.models("mla", "gpt2")


@pytest.mark.parametrize("name", ["gpt2-small", "deepseek-v3", "bart-base"])
def test_an_answer_is_iterated_and_turned_into_a_dict(name: str) -> None:
    answer = txcalc.kvcache(name, ctx=100)
    figures = answer.to_dict()
    assert list(answer) == list(figures.items())
    assert figures["kvcache.total"] == answer.total
    for address, value in figures.items():
        assert txcalc.get(name, address, ctx=100) == value
    below = txcalc.params(name).embedding.to_dict()
    assert below["params.embedding"] == txcalc.get(name, "params.embedding")
    assert all(address.startswith("params.embedding") for address in below)


def test_an_answer_shows_its_numbers_in_print_and_in_a_notebook() -> None:
    lines = repr(txcalc.params("gpt2-small")).splitlines()
    assert lines[0] == "params of gpt2-small"
    assert "  params.total                   124,439,808 parameters" in lines
    block = repr(txcalc.flops("gpt3", ctx=2048).block)
    assert block.startswith("flops.block of gpt3\n")
    assert "flops.block.scores" in block
    assert "params" not in block
    ratio = txcalc.concurrency("gpt3", ctx=2048)
    assert re.search(r"concurrency\.ratio +36\.136197$", repr(ratio), re.MULTILINE)
    page = ratio._repr_html_()
    assert "<td>36.136197</td>" in page
    assert page.count("<tr>") == page.count("</tr>") == 4


def test_html_of_a_model_of_any_name_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("name: small", 'name: "<b>&"'), "utf-8")
    assert "params of &lt;b&gt;&amp;</caption>" in txcalc.params(path)._repr_html_()


def test_an_explanation_is_that_of_the_command() -> None:
    explained = txcalc.explain("gpt2-small", "params.block.attention")
    assert explained.steps[0].formula == "4·d_model·n_heads·head_dim + 3·n_heads·head_dim + d_model"
    assert "  head_dim = d_model/n_heads = 64: width of one head" in repr(explained).splitlines()
    [_, *below] = txcalc.explain("gpt2-small", "params.total", depth=1).steps
    assert [step.name for step in below] == [
        "params.blocks", "params.embedding", "params.final_norm",
    ]  # fmt: skip


def test_a_sweep_is_a_list_of_points_with_exact_numbers() -> None:
    points = txcalc.sweep("gpt3", "concurrency.ratio", {"ctx": range(100, 102)}, kv="fp8")
    assert points == [
        {
            "ctx": ctx,
            "concurrency.ratio": txcalc.get("gpt3", "concurrency.ratio", ctx=ctx, kv="fp8"),
        }
        for ctx in (100, 101)
    ]
    assert isinstance(points[0]["concurrency.ratio"], Fraction)
    over = {"model": ["toy", "gpt2-small"], "d_ff": "64:128:x2"}
    addresses = ["params.total", "params.block.ffn / params.block"]
    swept = txcalc.sweep(None, addresses, over, ["n_layers=2"])
    assert [(point["model"], point["d_ff"]) for point in swept] == [
        ("toy", 64), ("toy", 128), ("gpt2-small", 64), ("gpt2-small", 128),
    ]  # fmt: skip
    model = txcalc.load("gpt2-small", ["n_layers=2", "d_ff=128"])
    assert swept[-1]["params.total"] == txcalc.params(model).total


ASKED: dict[str, tuple[dict[str, Any], ...]] = {
    "memory": ({}, {"pp": 2}),
    "image": ({"image": "448x448"},),
    "audio": ({"audio": 30},),
    "trainmem": ({},),
    "train": ({"gpus": 8, "device": "h100-sxm", "mfu": 0.4, "train_tokens": 10**9},),
    "fit": ({"kv_memory": 1}, {"device": "h100-sxm", "count": 2, "engine": "vllm"}),
    "verify": ({"checkpoint": in_memory(header_of({"a": ("F32", [2])}))},),
    "roofline": ({"device": "h100-sxm"}, {"device": "h100-sxm", "price": 2, "batch": 4}),
}
"""Options with which accounts have all of their figures; elsewhere none are needed."""
WITH_TOWERS = {"image": ("qwen2.5-vl-7b",), "audio": ("voxtral-mini-3b",)}
FUNCTIONS = tuple(name for name in registry.WITH_FIGURES if name != "dims")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_options_of_a_function_are_those_that_its_account_reads(name: str) -> None:
    signature = inspect.signature(getattr(txcalc, name))
    reads = set(registry.declared(name).reads)
    if not reads:
        assert "options" not in signature.parameters
        return
    kind = getattr(options, f"{name.capitalize()}Options")
    assert signature.parameters["options"].annotation == f"Unpack[{kind.__name__}]"
    assert set(kind.__annotations__) == reads
    said = (inspect.getdoc(getattr(txcalc, name)) or "").partition("\nOptions:\n")[2]
    assert set(re.findall(r"^    (\w+): ", said, re.MULTILINE)) == reads


def test_options_have_the_types_that_a_question_has() -> None:
    wanted = get_type_hints(Question)
    assert set(options.Options.__annotations__) == set(KNOWN)
    for name, hint in options.Options.__annotations__.items():
        typed = hint.__forward_arg__
        kinds = {wanted[name], *get_args(wanted[name])}
        if name in ("device", "checkpoint"):
            assert typed == f"str | {name.capitalize()}"
        elif int in kinds:
            assert typed == "Size"
        elif typed == "Decimal":
            assert str in kinds
        else:
            assert vars(options).get(typed, {"str": str, "bool": bool}.get(typed)) in kinds, name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_attributes_of_an_answer_are_those_that_there_are(name: str) -> None:
    kind = getattr(answers, name.capitalize())
    declared = kind.__annotations__
    seen: dict[str, set[bool]] = {}
    for model in WITH_TOWERS.get(name, ("gpt2-small", "deepseek-v3", "opt-350m", "gemma4-31b")):
        for asked in ASKED.get(name, ({},)):
            try:
                answer = getattr(txcalc, name)(model, **asked)
            except RefusedError:
                assert name == "trainmem"  # which is measured of few arrangements
                continue
            assert isinstance(answer, kind)
            for word in set(dir(answer)) - set(dir(txcalc.Answer)) - {"report", "address"}:
                if word not in kind.__dict__ and not hasattr(txcalc.Answer, word):
                    found = getattr(answer, word)
                    seen.setdefault(word, set()).add(isinstance(found, txcalc.Answer))
    assert seen.keys() == declared.keys()
    for word, is_answer in seen.items():
        assert all(("Figures" if above else "Number") in declared[word] for above in is_answer), (
            word
        )


MISTAKES = {
    'txcalc.get("gpt3", "flops.total", ctxx=1)': 'Unexpected keyword argument "ctxx"',
    'txcalc.flops("gpt3", kv="fp8")': 'Unexpected keyword argument "kv"',
    'txcalc.flops("gpt3", phase="pretrain")': 'Argument "phase" to "flops" has incompatible type',
    'txcalc.params("gpt3").totl': '"Params" has no attribute "totl"',
    'txcalc.flops("gpt3", ctx=2048).block.attention.q': "",
    'txcalc.kvcache("gpt3", ctx="32Ki").total + 1': "",
    'dict(txcalc.params("gpt3"))["params.total"] + 1': "",
}


def test_wrong_names_fail_in_mypy(tmp_path: Path) -> None:
    """Whoever checks types is said before anything runs."""
    path = tmp_path / "mistakes.py"
    path.write_text("import txcalc\n" + "\n".join(MISTAKES) + "\n")
    cache = ("--cache-dir", str(tmp_path / "cache"), "--config-file", "")
    out, err, _ = api.run(["--strict", *cache, str(path)])
    assert not err
    lines = {int(line.split(":")[1]): line for line in out.splitlines() if ": error: " in line}
    for number, (code, message) in enumerate(MISTAKES.items(), 2):
        assert message in lines.get(number, ""), code
        assert bool(message) == (number in lines), code


def test_a_path_is_a_model_and_an_answer_can_be_copied(tmp_path: Path) -> None:
    described = tmp_path / "mine.yaml"
    described.write_text(GOOD, "utf-8")
    assert txcalc.params(txcalc.load(described)).total > 0
    answer = txcalc.params("gpt2-small").block
    for again in (copy.copy(answer), copy.deepcopy(answer), pickle.loads(pickle.dumps(answer))):
        assert again.attention.q == 589824


def test_changes_are_those_of_set() -> None:
    assert txcalc.params(txcalc.load("gpt2-small", ["n_layers=48"])).total == 379603200


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda: txcalc.load("gpt2-smal"), "did you mean 'gpt2-small'"),
        (lambda: txcalc.get("gpt5-huge", "params.total"), "gpt5-huge"),
        (lambda: txcalc.get("gpt3", "params.totl"), "params.totl"),
        (lambda: txcalc.get("gpt3", "flops.total", ctxx=1), "no option 'ctxx'"),
        (lambda: txcalc.get("gpt3", "flops.total", ctx="long"), "ctx"),
        (lambda: txcalc.function("gpt3", "params.total", "cxt"), "no letter 'cxt'"),
        (lambda: txcalc.function("gpt3", "params.total", "ctx", "ctx"), "'ctx' is given twice"),
        (lambda: txcalc.function("gpt3", "flops.total", "source"), "no encoder beside a decoder"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(0), "--ctx 0: a whole number from"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(10**15 + 1), "--ctx 10+1: a whole"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(2.0), "--ctx 2.0: a whole number"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(True), "--ctx True: a whole number"),
        (txcalc.function("gpt3", "flops.total", "ctx"), "one number each is needed of c"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(1, 2), "one number each is needed"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(1, ctx=2), "one number each"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(batch=2), "one number each"),
        (lambda: txcalc.function("gpt3", "flops.total")(2), "one number each .* of nothing"),
        (lambda: txcalc.get("gpt3", "flops.total", ctx=10**5000), "--ctx is out of range: a whole"),
        (lambda: txcalc.get("gpt3", "flops.total", batch=-(10**400)), "--batch is out of range"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(10**5000), "--ctx is out of range"),
        (
            lambda: txcalc.sweep("gpt3", "flops.total", {"ctx": [10**5000]}),
            "over ctx: whole numbers",
        ),
        (
            lambda: txcalc.sweep("gpt3", "flops.total", {"ctx": range(1, 10**15 + 2, 10**15)}),
            "over ctx: whole numbers",
        ),
        (lambda: txcalc.sweep("gpt3", "flops.total", {"ctx": [True]}), "over ctx: whole numbers"),
        (lambda: txcalc.sweep("gpt3", "flops.total", {"ctx": ["32k"]}), "'32k' has two readings"),
        (lambda: txcalc.sweep("gpt3", "flops.total", {"ctx": []}), "over ctx: no value"),
        (lambda: txcalc.sweep("gpt3", "flops.total", {}), "over is empty"),
        (lambda: txcalc.sweep(None, "flops.total", {"ctx": [1]}), "no model is given"),
        (lambda: txcalc.sweep("gpt3", [], {"ctx": [1]}), "an address is needed"),
        (lambda: txcalc.models(1), "a part of a name is a text, not 1"),  # type: ignore[arg-type]
        (lambda: txcalc.kvcache("roberta-base"), "encoder-only"),
        (lambda: txcalc.load(None), "a model is a text, not None"),  # type: ignore[arg-type]
        (lambda: txcalc.params(1), "a model is a text, not 1"),  # type: ignore[arg-type]
        (
            lambda: txcalc.sweep(txcalc.load("toy"), "params.total", {}),  # type: ignore[arg-type]
            "a name or a path is needed here, not the loaded toy",
        ),
        (lambda: txcalc.load("gpt3", "n_layers=4"), "changes are a list"),
        (lambda: txcalc.load("gpt3", [None]), "a change is a text"),  # type: ignore[list-item]
        (lambda: txcalc.get("gpt3", None), "an address is a text"),  # type: ignore[arg-type]
        (lambda: txcalc.function("gpt3", "params.total", 1), "a letter"),  # type: ignore[arg-type]
        (lambda: txcalc.get("gpt3", "params.total", kv="fp9"), "unknown number format 'fp9'"),
        (lambda: txcalc.get("gpt3", "params.total", ctx=0), "--ctx 0: a whole number"),
        (
            lambda: txcalc.get("gpt3", "flops.total", scores="\ud800"),
            "characters that no text can hold",
        ),
        (lambda: txcalc.params("gpt3").zork, "no figure 'params.zork'"),
    ],
)
def test_what_goes_wrong_says_so(act: Any, said: str) -> None:
    with pytest.raises(txcalc.TxcalcError, match=said):
        act()
    with pytest.raises(AttributeError):
        _ = txcalc.params("gpt3").zork
