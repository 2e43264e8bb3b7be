"""Hugging Face configs against counts measured by instantiating the public classes.

Facts: transformers 5.24.0 with torch 2.13.0 on the meta device (tests/oracle/measure.py measures
them again by hand).  ``models`` are configs of published checkpoints, ``types``, ``masked`` and
``seq2seq`` the default configs of model types, ``small`` awkward little ones with a flag turned,
``heads`` classes for tasks.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.support.oracle import SETS, Row, answered, described, model_of, refused, rows
from tests.support.running import find, report
from txcalc.errors import RefusedError, TxcalcError
from txcalc.model.model import Model
from txcalc.sources import description, yaml
from txcalc.sources.families import TYPES
from txcalc.workload.reach import Window


def is_partial(model: Model) -> bool:
    return any(block.partial for block in model.blocks.values())


MODELS = rows("models")


@pytest.mark.parametrize("row", MODELS, ids=lambda row: row["name"])
def test_a_published_checkpoint_is_exact_and_wholly_described(row: dict[str, Any]) -> None:
    model = model_of(row)
    assert find(model, "params.total") == row["total"]
    assert not is_partial(model)


@pytest.mark.parametrize("name", SETS[1:])
def test_no_count_is_wrong_and_no_row_refused_but_those_listed(name: str) -> None:
    wrong = {row["name"]: got for row in answered(name) if (got := counted(row)) != row["total"]}
    assert not wrong


@pytest.mark.parametrize("name", SETS)
def test_a_listed_row_is_refused_for_its_reason(name: str) -> None:
    """A fault of the description would be ours, unless sizes of the file do not divide."""
    reasons = refused(name)
    refusals = {row["name"]: counted(row) for row in rows(name) if row["name"] in reasons}
    assert refusals.keys() == reasons.keys()
    for row, refusal in refusals.items():
        assert reasons[row] in str(refusal), row
        assert str(refusal).startswith("config.json: ") or "no multiple of" in str(refusal), row


def counted(row: Row) -> object:
    """The parameters of a row's model, or what they are refused for."""
    try:
        return find(model_of(row), "params.total")
    except TxcalcError as error:
        return str(error)


MEASURED = [row for row in MODELS if "prefill" in row]


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["name"])
def test_prefill_and_decode_flops_are_exact(row: dict[str, Any]) -> None:
    """Full squares of scores; in decode one token after 1,023, latents expanded anew."""
    model = model_of(row)
    both = model.has_encoder and model.has_decoder
    for shape, total in row["prefill"].items():
        batch, tokens = (int(part[1:]) for part in shape.split("_"))
        source = {"source": tokens} if both else {}
        options = {"phase": "prefill", "batch": batch, "ctx": tokens, **source}
        assert find(model, "flops.total", scores="square", **options) == total, shape
    if "decode" in row:
        source = {"source": 1023} if both else {}
        options = {"phase": "decode", "ctx": 1024, "mla": "reexpand", **source}
        assert find(model, "flops.total", scores="square", **options) == row["decode"]


RECURRENT = [row for row in MODELS if "projections" in row]


@pytest.mark.parametrize("row", RECURRENT, ids=lambda row: row["name"])
def test_projections_of_recurrent_models_are_exact(row: dict[str, Any]) -> None:
    """All weight products but convolutions and Mamba's dt, which the counter's modules miss."""
    model = model_of(row)
    asked: dict[str, Any] = {"phase": "prefill", "scores": "square", "ctx": 16}
    total = find(model, "flops.head", **asked)
    for kind in model.layers:
        for name, weight in kind.weights.items():
            if weight.use == "matmul" and name not in ("ssm.conv", "ssm.dt"):
                row_flops = find(model, f"flops.block.{kind.name}.{name}", **asked)
                total += row_flops * kind.count.value
    assert total == row["projections"]


CACHED = [row for row in MODELS if "kv" in row]


@pytest.mark.parametrize("row", CACHED, ids=lambda row: row["name"])
def test_cache_bytes_are_exact_but_for_one_token_of_a_full_window(row: dict[str, Any]) -> None:
    """A window layer was measured with window - 1 tokens; an engine budgets the window."""
    model = model_of(row)
    total = find(model, "kvcache.total", ctx=2048, dtype="bf16")
    one_token_less = sum(
        2 * state.width.value * kind.count.value
        for kind in model.decoder_layers
        for state in kind.state.values()
        if isinstance(state.reach, Window) and state.reach.size.value < 2048
    )
    assert row["kv"] in (total, total - one_token_less)


@pytest.mark.parametrize("name", SETS)
def test_the_imported_description_gives_the_same_figures(name: str) -> None:
    """All parameters, and for whole models all FLOPs and cache bytes."""
    for row in answered(name)[:: 1 if name == "models" else 7]:
        tree = described(row)
        direct = description.build(tree, "tree")
        again = description.build(yaml.parse(yaml.dump(tree), "yaml"), "yaml")
        whole = () if is_partial(direct) else ("flops", *["kvcache"] * direct.has_decoder)
        asked = {"ctx": 64, "phase": "decode" if direct.has_decoder else "prefill"}
        for account in ("params", *whole):
            figures = report(account, direct, **asked).figures
            assert report(account, again, **asked).figures == figures, (row["name"], account)


PARTIAL = """
big_bird bigbird_pegasus blt convbert cpmant deepseek_v2 dots1 fnet funnel inkling2_loop_text
inkling2_text led longformer luke mobilebert mra neomme nystromformer pegasus_x perceiver
prophetnet qwen4_exp_text reformer squeezebert xlnet yoso
"""
"""Types of which some part is not described, so that only their parameters are counted."""


def test_the_partial_types_are_those_listed() -> None:
    every = [row for name in ("types", "masked", "seq2seq") for row in answered(name)]
    assert {row["type"] for row in every if is_partial(model_of(row))} == set(PARTIAL.split())


@pytest.mark.parametrize("name", ["types", "masked", "seq2seq", "small"])
def test_a_partial_block_names_its_mechanism_and_refuses_by_it(name: str) -> None:
    for row in answered(name):
        model = model_of(row)
        named = {block.mechanism for block in model.blocks.values() if block.partial}
        assert all(named), row["name"]
        if named:
            with pytest.raises(RefusedError, match=f"it has ({'|'.join(named)}), a mechanism"):
                report("flops", model, phase="prefill", ctx=8)


def test_a_partial_encoder_keeps_no_cache_from_being_counted() -> None:
    """LED's decoder keeps keys and values of its own tokens, and of the encoder's once."""
    [row] = [row for row in rows("seq2seq") if row["type"] == "led"]
    model, sizes = model_of(row), row["config"]
    each = 2 * sizes["decoder_layers"] * sizes["d_model"] * 2
    assert find(model, "kvcache.token", ctx=1024, source=64, dtype="fp16") == each
    assert find(model, "kvcache.sequence", ctx=1024, source=64, dtype="fp16") == 1088 * each
    with pytest.raises(RefusedError, match="global tokens"):
        report("flops", model, phase="prefill", ctx=8)


def test_deepseek_v3_counts_what_its_paper_states() -> None:
    """arXiv:2412.19437: 671B parameters, 37B active; with the MTP module the release has 684.5B."""
    [row] = [row for row in MODELS if row["name"] == "deepseek-r1"]
    model = model_of(row)
    total = find(model, "params.total")
    assert find(model, "params.active") == 37_552_282_624
    assert total + find(model, "params.buffers") == 671_026_419_200
    assert round((total + find(model, "params.mtp")) / 10**8) == 6845


def test_every_type_names_a_function_that_exists() -> None:
    for entry in TYPES.values():
        module, _, function = entry.partition(":")[0].partition(".")
        assert callable(getattr(import_module(f"txcalc.sources.families.{module}"), function))


@pytest.mark.parametrize(("high", "low", "run"), [(2, 3, 128), (1, 1, 32), (1, 2, 48)])
def test_the_stacks_of_hrm_run_in_cycles(high: int, low: int, run: int) -> None:
    """The class saves the layers of all cycles as ``num_hidden_layers``: 128 for 2 x (3 + 1)."""
    [row] = [row for row in rows("types") if row["type"] == "hrm_text"]
    cycles = {"H_cycles": high, "L_cycles": low, "num_hidden_layers": run}
    model = model_of({**row, "config": {**row["config"], **cycles}})
    assert sum(kind.count.value for kind in model.layers) == run


def test_layers_that_a_text_alone_skips_are_said() -> None:
    [row] = [row for row in rows("types") if row["type"] == "mllama"]
    note = "cross-attention to images: stored, and skipped by a text alone"
    assert note in model_of(row).notes
