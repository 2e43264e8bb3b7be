"""Swept points against single answers; axes, formats, streams and what is refused."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import txcalc
from tests.cli.test_process import TXCALC, environment, on_terminal, started
from tests.support.counting import Tree
from tests.support.describing import descriptions
from tests.support.running import ACCOUNTS, BUNDLED, answer, get, load, named, report, run
from tests.support.terminal import shown
from txcalc.accounts import registry
from txcalc.errors import DescriptionError, OptionError, RefusedError
from txcalc.exact.emit import compiled
from txcalc.exact.quantity import Number, is_estimate
from txcalc.model.model import Model
from txcalc.sources.edits import unshared
from txcalc.sources.loading import built, read
from txcalc.sweeps.axes import axes
from txcalc.sweeps.derived import Sized
from txcalc.workload.question import Question

LETTERS = ("ctx", "batch", "prompt", "new")
POINTS: tuple[dict[str, int], ...] = (
    {"ctx": 1, "batch": 1, "prompt": 1, "new": 1},
    {"ctx": 300, "batch": 7, "prompt": 2, "new": 40},
    {"ctx": 5000, "batch": 3, "prompt": 4100, "new": 3},
)


def answers(model: Model, **question: Any) -> dict[str, Fraction | int]:
    """Every exact figure of every account that answers."""
    found: dict[str, Fraction | int] = {}
    for account in ACCOUNTS:
        try:
            figures = report(account, model, **question).figures
        except RefusedError:
            continue
        found |= {name: q.value for name, q in figures.items() if not is_estimate(q)}
    return found


def check_law(model: Model, **question: Any) -> int:
    """Every derivation as a function of letters, against the figures asked one by one."""
    checked = 0
    singles = [answers(model, **question, **point) for point in POINTS]
    for account in ACCOUNTS:
        try:
            figures = report(account, model, **question, **POINTS[0]).figures
        except RefusedError:
            continue
        for address, quantity in figures.items():
            made = compiled(quantity, LETTERS)
            for point, single in zip(POINTS, singles, strict=True):
                if address in single and not is_estimate(quantity):
                    assert made(*point.values()) == single[address], (address, point)
                    checked += 1
    return checked


@pytest.mark.parametrize("name", BUNDLED)
def test_every_figure_of_a_bundled_model_as_a_function(name: str) -> None:
    model = named(name)
    phase = "decode" if model.has_decoder else "prefill"
    assert check_law(model, phase=phase) > 100


@given(
    descriptions(), st.sampled_from(("token", "prefill", "decode", "train")),
    st.sampled_from(("full", "causal", "square", "none")),
)  # fmt: skip
def test_every_figure_of_a_generated_model_as_a_function(
    tree: Tree, phase: str, scores: str
) -> None:
    model = load(tree)
    assume(model.has_decoder or phase in ("prefill", "train"))
    assert check_law(model, phase=phase, scores=scores) > 30


def swept(*arguments: object) -> list[dict[str, str]]:
    """The points of a sweep in CSV."""
    return list(csv.DictReader(io.StringIO(answer("sweep", *arguments, "--format", "csv"))))


@pytest.mark.parametrize(
    ("model", "address", "axis", "values"),
    [
        ("gpt2-small", "params.total", "n_layers", (12, 24, 48)),
        ("toy", "flops.block", "d_ff", (1, 171, 256)),
        ("gpt3", "concurrency.ratio", "vocab", (1, 50257)),
        ("deepseek-v3", "params.active", "top_k", (1, 8, 256)),
        ("gemma-3-4b-text", "kvcache.sequence", "n_layers", (6, 7, 34)),
    ],
)
def test_a_swept_dimension_is_the_same_as_setting_it(
    model: str, address: str, axis: str, values: tuple[int, ...]
) -> None:
    points = swept(model, address, "--over", f"{axis}={','.join(map(str, values))}")
    for point, value in zip(points, values, strict=True):
        assert point[axis] == str(value)
        exact = get(model, address, "--set", f"{axis}={value}")
        assert point[address] == str(exact if isinstance(exact, int) else float(exact))


WITHOUT_EFFECT = [
    (("gpt3", "kvcache.token", "--over", "ctx=1,2"), "--over ctx", "kvcache.token does not"),
    (("gpt3", "flops.total", "--over", "batch=1,2"), "--over batch", "flops.total does not"),
    (("gpt3", "params.head", "flops.head", "--over", "n_layers=1,2"), "--over n_layers",
     "params.head and flops.head do not"),
    (("mamba-130m", "kvcache.total", "--over", "ctx=1,2"), "--over ctx", "kvcache.total does not"),
    (("kvcache.sequence", "--over", "model=mamba-130m,gpt3", "--over", "ctx=1,2"), "", ""),
    (("gpt3", "params.head", "params.blocks", "--over", "n_layers=1,2"), "", ""),
    (("toy", "params.total", "--over", "d_model=128,256", "--set", "d_ff=4*d_model"), "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "over", "which"), WITHOUT_EFFECT)
@pytest.mark.parametrize("fmt", ["table", "csv"])
def test_an_axis_that_changes_nothing_is_named(
    arguments: tuple[str, ...], over: str, which: str, fmt: str
) -> None:
    ran = run("sweep", *arguments, "--format", fmt)
    assert ("changes nothing here" in ran.err) == bool(over)
    if over:
        assert ran.err == f"txcalc: warning: {over} changes nothing here: {which} depend on it\n"


def sizes_of(model: Model) -> list[str]:
    """The names that stand for one dimension, wherever it is read."""
    values: dict[str, set[Number]] = {}
    for letter in model.dims.values():
        values.setdefault(letter.name, set()).add(letter.value)
    return sorted(name for name, found in values.items() if len(found) == 1)


@pytest.mark.parametrize("name", BUNDLED)
def test_every_other_dimension_of_a_bundled_model_is_one_function(name: str) -> None:
    tree, file, _ = read(name)
    dims = named(name).dims.values()
    checked = 0
    for size in sizes_of(named(name))[::2]:
        [own] = {int(letter.value) for letter in dims if letter.name == size}
        try:
            changed = built(unshared(tree), file, [f"{size}={2 * own}"])
        except DescriptionError:  # as twice the n_heads of one width
            continue
        check_size(Sized(tree, file, {size: own}, FIGURES, QUESTION), changed, size, 2 * own)
        checked += 1
    assert checked > 1


FIGURES = ["flops.total", "params.active"]
QUESTION = Question(phase="prefill", scores="causal", ctx=100)


def check_size(sized: Sized, changed: Model, size: str, value: int) -> None:
    """Derivations of one size at another, against the figures of a model that has it."""
    sized.check({size: value})
    for address, figure in zip(FIGURES, sized.figures, strict=True):
        single = registry.report_of(address, changed, QUESTION).find(address)
        assert compiled(figure, [size], sized.places)(value) == single.value, (size, address)


@given(descriptions(), st.data())
def test_every_dimension_of_a_generated_model_is_one_function(tree: Tree, data: Any) -> None:
    model = load(tree)
    size = data.draw(st.sampled_from(sizes_of(model)))
    [own] = {int(letter.value) for letter in model.dims.values() if letter.name == size}
    value = data.draw(st.integers(1, 4)) * own
    try:
        changed = built(unshared(tree), "it", [f"{size}={value}"])
        check_size(Sized(tree, "it", {size: own}, FIGURES, QUESTION), changed, size, value)
    except (DescriptionError, OptionError):
        assume(False)


def test_several_axes_form_a_product_and_the_last_varies_fastest() -> None:
    points = swept(
        "toy", "flops.total", "kvcache.total", "--phase", "prefill",
        "--over", "model=toy,gpt2-small", "--over", "batch=1:3", "--over", "ctx=8:32:x2",
    )  # fmt: skip
    order = [(p["model"], int(p["batch"]), int(p["ctx"])) for p in points]
    assert order == list(product(("toy", "gpt2-small"), (1, 2, 3), (8, 16, 32)))
    for point in points:
        options = ("--batch", point["batch"], "--ctx", point["ctx"])
        flops = get(point["model"], "flops.total", "--phase", "prefill", *options)
        assert point["flops.total"] == str(flops)
        assert point["kvcache.total"] == str(get(point["model"], "kvcache.total", *options))


def test_json_is_a_line_a_point_and_tells_fractions_exactly() -> None:
    options = ("--over", "ctx=100:102", "--over", "model=gpt3,toy", "--format", "json")
    lines = answer("sweep", "gpt3", "concurrency.ratio", *options).splitlines()
    assert len(lines) == 6
    for line in lines:
        point = json.loads(line)
        exact = get(point["model"], "concurrency.ratio", "--ctx", point["ctx"])
        said = point["concurrency.ratio"]
        assert (Fraction(said["exact"]) if isinstance(said, dict) else said) == exact


def test_a_table_of_one_axis_has_bars() -> None:
    text = answer("sweep", "toy", "kvcache.sequence", "--over", "ctx=100:400:x2")
    bars = [line.count("█") for line in text.splitlines() if "█" in line]
    assert bars[2] == 2 * bars[1] == 4 * bars[0] > 0
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("ctx=1:4", [1, 2, 3, 4]), ("ctx=7:7", [7]), ("ctx=1:10:+4", [1, 5, 9]),
        ("ctx=2:10:+4", [2, 6, 10]),
        ("ctx=512:4096:x2", [512, 1024, 2048, 4096]), ("ctx=3:100:x10", [3, 30]),
        ("ctx=5,3,5", [5, 3, 5]), ("model=a,b", ["a", "b"]),
    ],
)  # fmt: skip
def test_an_axis_is_read(text: str, values: list[object]) -> None:
    assert [list(axis.values) for axis in axes([text])] == [values]


@pytest.mark.parametrize(
    "texts",
    [
        [], ["ctx"], ["=1:2"], ["ctx="], ["ctx=2:1"], ["ctx=0:1"], ["ctx=1:2:3"], ["ctx=1:2:x1"],
        ["ctx=1:2:+0"], ["ctx=1:2:x2:x2"], ["ctx=a"], ["ctx=1.5"], ["ctx=-1"], ["ctx=1,,2"],
        ["ctx=1:2", "ctx=3"], ["ctx=10000000000000000"], ["ctx=１:２"], ["ctx=" + "9" * 5000],
    ],
)  # fmt: skip
def test_a_bad_axis_is_refused(texts: list[str]) -> None:
    with pytest.raises(OptionError, match="--over"):
        axes(texts)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["params.total", "--over", "zork=1:2"], "--over zork: nothing is called 'zork'"),
        (["params.total", "--over", "tied=1:2"], "head.tied is no dimension, it changes the str"),
        (["params.total", "--over", "pattern=1:2"], "layers.pattern is no dimension"),
        (["params.total", "--over", "attention.kind=1:2"], "attention.kind is no dimension"),
        (["params.total", "--over", "n_heads=96,97"], "--over n_heads=97: "),
        (["flops.totl", "--over", "ctx=1:2"], "no figure 'flops.totl'"),
        (["flops.total", "--over", "ffn.kind=1"], "blocks.decoder.ffn.kind"),
        (["flops.total", "--over", "model=gpt3,tyo"], "'tyo'"),
        (["flops.total", "--over", "scores=full,causal"], "'full' is no whole number"),
        (["flops.total", "--over", "ctx=1:3000"], "3,000 points are too many for a table"),
        (["flops.total"], "--over is missing"),
    ],
)
def test_what_cannot_be_swept_is_refused_before_any_output(arguments: list[str], said: str) -> None:
    ran = run("sweep", "gpt3", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_dimension_that_changes_the_structure_is_refused_by_name() -> None:
    """Below some width of the FFN, the widest output of a product is another's."""
    ran = run("sweep", "gpt3", "memory.gpu.step", "--over", "d_ff=49152,1", "--format", "csv")
    assert (ran.code, ran.out) == (2, "")
    assert "--over d_ff: d_ff=1 changes the structure" in ran.err
    assert len(swept("gpt3", "memory.gpu.step", "--over", "d_ff=49152,98304")) == 2


def test_a_sweep_goes_on_to_where_tokens_pick_all_experts() -> None:
    points = swept("mixtral-8x7b", "intensity.all.decode", "--over", "n_experts=8,4,2")
    exact = get("mixtral-8x7b", "intensity.all.decode", "--set", "n_experts=2")
    assert points[-1]["intensity.all.decode"] == str(float(exact))


def test_dimensions_that_change_the_structure_together_are_refused_by_both_names() -> None:
    options = ("--over", "d_ff=49152,20000", "--over", "d_model=12288,24576", "--format", "csv")
    ran = run("sweep", "gpt3", "memory.gpu.step", *options)
    assert (ran.code, ran.out) == (2, "")
    assert "--over d_ff and d_model: d_ff=20000 d_model=24576 changes the structure" in ran.err


CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
    "vocab_size": 100, "intermediate_size": 128, "num_attention_heads": 4,
    "num_hidden_layers": 2, "odd_key": 1, "num_key_value_heads": 2,
    "max_position_embeddings": 256, "tie_word_embeddings": False,
}  # fmt: skip


def test_a_config_is_swept_like_any_model(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG), "utf-8")
    options = ("--over", "n_kv_heads=1,2,4", "--over", "ctx=7,300", "--set", "d_ff=96")
    points = swept(config, "flops.total", *options)
    assert len(points) == 6
    for point in points:
        size = f"n_kv_heads={point['n_kv_heads']}"
        asked = ("--set", "d_ff=96", "--set", size, "--ctx", point["ctx"])
        assert point["flops.total"] == str(get(config, "flops.total", *asked))
    ran = run("sweep", config, "flops.total", "--over", "ctx=1,2", "--format", "csv")
    assert "keys that nothing here reads" in ran.err
    assert run("sweep", config, "flops.total", "--over", "ctx=1,2", "--strict").code == 2
    nameless = {key: value for key, value in CONFIG.items() if key not in ("model_type", "odd_key")}
    config.write_text(json.dumps(nameless), "utf-8")
    assert len(swept(config, "flops.total", "--over", "ctx=1,2", "--type", "llama")) == 2


def test_changes_of_a_sweep_are_made_one_after_another() -> None:
    changes = (
        "--set",
        "attention={kind: gqa, n_heads: 12, n_kv_heads: 4}",
        "--set",
        "n_kv_heads=6",
    )
    [point] = swept("gpt2-small", "params.total", *changes, "--over", "n_layers=7")
    assert point["params.total"] == str(
        get("gpt2-small", "params.total", *changes, "--set", "n_layers=7")
    )
    ran = run("sweep", "gpt3", "params.total", "--set", "foo=6", "--over", "n_layers=1,2")
    assert "--set foo=6: nothing is called 'foo'" in ran.err


def test_dimensions_are_swept_by_path_as_they_are_set() -> None:
    axes = {"encoder.ffn.d_ff": (7, 2048), "encoder.count": (2, 3), "vocab": (11,)}
    over = [
        o for name, values in axes.items() for o in ("--over", f"{name}={values[0]},{values[-1]}")
    ]
    points = swept("transformer-base", "params.total", *over)
    assert len(points) == 8
    for point in points:
        sizes = [o for name in axes for o in ("--set", f"{name}={point[name]}")]
        assert point["params.total"] == str(get("transformer-base", "params.total", *sizes))


@pytest.mark.parametrize("fmt", ["csv", "json"])
def test_all_sizes_are_checked_before_the_first_line(fmt: str) -> None:
    """However far behind the refused one stands; here it is the last of 300, and of 2 x 300."""
    values = ",".join(map(str, [*range(50_300, 50_001, -1), 1]))
    over = ("--over", f"d_ff={values}", "--format", fmt)
    ran = run("sweep", "gpt3", "memory.gpu.step", *over)
    assert (ran.code, ran.out) == (2, "")
    assert "d_ff=1 changes the structure" in ran.err
    heads = ",".join(["4"] * 300 + ["3"])
    for outer, inner in ((f"n_heads={heads}", "ctx=1,2"), ("ctx=1,2", f"n_heads={heads}")):
        ran = run("sweep", "toy", "flops.total", "--over", outer, "--over", inner,
                  "--format", fmt)  # fmt: skip
        assert (ran.code, ran.out) == (2, "")
        assert "--over n_heads=3: " in ran.err


def test_more_sizes_than_are_checked_at_once_are_all_written() -> None:
    points = swept("toy", "params.total", "--over", "d_ff=1:700")
    assert [int(point["d_ff"]) for point in points] == list(range(1, 701))
    assert points[-1]["params.total"] == str(get("toy", "params.total", "--set", "d_ff=700"))


def test_arithmetic_of_a_change_follows_a_swept_dimension() -> None:
    change = ("--set", "d_ff=4*d_model")
    points = swept("gpt2-small", "params.total", *change, "--over", "d_model=768,1536")
    for point in points:
        d_model = int(point["d_model"])
        set_alone = ("--set", f"d_model={d_model}", "--set", f"d_ff={4 * d_model}")
        assert point["params.total"] == str(get("gpt2-small", "params.total", *set_alone))


def test_a_sweep_notes_what_a_change_of_its_dimensions_leaves_behind() -> None:
    over = ("--over", "d_model=768,1536", "--format", "csv")
    ran = run("sweep", "gpt2-small", "params.total", *over)
    assert ran.err.count("warning") == 1
    assert "gpt2-small: d_ff stays 3,072, 4·d_model before: --set d_ff=4*d_model" in ran.err
    assert run("sweep", "gpt2-small", "params.total", "--set", "d_ff=4*d_model", *over).err == ""


def test_a_sweep_over_models_needs_no_other() -> None:
    over = ("--over", "model=toy,gpt2-small")
    points = swept("params.total", "kvcache.total / weights.bytes", *over, "--over", "ctx=1,2")
    assert [point["model"] for point in points] == ["toy", "toy", "gpt2-small", "gpt2-small"]
    assert points[3]["params.total"] == "124439808"
    assert swept("params.total", *over) == swept("toy", "params.total", *over)
    for arguments, message in (
        (("params.total", "--over", "ctx=1,2"), "no model is given"),
        (("gpt3", "params.total", *over), "the model gpt3 and --over model are both given"),
        (("toy", *over), "an address is needed"),
        (("gpt3", "--over", "ctx=1,2"), "an address is needed"),
    ):
        ran = run("sweep", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err, arguments


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--ctx 5 --over ctx=1:3", "--ctx and --over ctx are both given"),
        ("--batch 5 --over batch=1:3", "--batch and --over batch are both given"),
        ("--set n_layers=9 --over n_layers=1,2", "--set n_layers=9 and --over n_layers both set"),
        ("--set layers.count=9 --over n_layers=1,2", "n_layers both set layers.count: one of them"),
        ("--over n_layers=1,2 --over layers.count=3", "both set layers.count: one of them"),
        ("flops.total --over ctx=1:3", "the address 'flops.total' is given twice"),
        ("--over model=gpt3,mixtral-8x7b --over top_k=1", "gpt3: --over top_k: nothing is called"),
    ],
)
def test_what_is_given_twice_or_to_the_wrong_model_is_refused(options: str, said: str) -> None:
    ran = run("sweep", "gpt3", "flops.total", *options.split(), "--format", "csv")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_sweep_warns_of_what_its_single_answers_warn_of() -> None:
    for values in ("1:2000", "10,2000,20", "2000,20,10"):
        ran = run(
            "sweep", "gpt2-small", "flops.total", "--over", f"ctx={values}", "--format", "csv"
        )
        assert ran.err.count("warning") == 1
        assert "ctx 2,000 is beyond the 1,024 learned positions" in ran.err
    assert run("sweep", "gpt2-small", "flops.total", "--over", "ctx=1:1024").err == ""


def test_a_figure_that_some_points_lack_is_refused() -> None:
    options = ("--over", "new=100,10", "--format", "csv")
    ran = run("sweep", "gpt2-small", "generation.after.32.tokens.ratio", *options)
    assert (ran.code, ran.out) == (2, "")
    function = txcalc.function("gpt2-small", "generation.after.32.tokens.ratio", "prompt")
    asked = txcalc.get("gpt2-small", "generation.after.32.tokens.ratio", prompt=7)
    assert function(7) == asked


def test_a_model_of_any_name_is_one_cell(tmp_path: Path) -> None:
    odd = tmp_path / 'a "b".json'
    odd.write_text(json.dumps(CONFIG), "utf-8")
    letters, models = "ctx=1,2", f"model={odd},toy"
    for outer, inner in ((letters, models), (models, letters)):
        points = swept("toy", "flops.total", "--over", outer, "--over", inner)
        assert {point["model"] for point in points} == {str(odd), "toy"}


def test_a_full_disk_is_told() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with full.open("wb") as out:
        ran = subprocess.run(
            [*TXCALC, "sweep", "toy", "flops.total", "--over", "ctx=1:100000", "--format", "csv"],
            stdout=out, stderr=subprocess.PIPE, env=environment(), check=False,
        )  # fmt: skip
    assert ran.returncode == 2
    assert b"standard output cannot be written" in ran.stderr


def test_a_table_fits_a_page_and_tells_numbers_as_others_do() -> None:
    wide = ("generation.with_prefill.flops.ratio", "intensity.all.prefill", "flops.total",
            "params.total", "kvcache.sequence")  # fmt: skip
    command = ("sweep", "jamba-v0.1", *wide, "--over", "ctx=512,2048")
    assert max(map(len, shown(*command, columns=80).splitlines())) <= 80
    text = answer(*command)
    assert all(address in text for address in wide)
    assert "█" not in text
    text = answer("sweep", "mixtral-8x7b", "intensity.all.decode", "--over", "batch=1,3")
    alone = answer("intensity", "mixtral-8x7b", "--batch", 3)
    assert re.findall(r"≈ [0-9.]+", text)[1] in alone


def test_a_context_swept_is_the_length_where_none_is_asked_for() -> None:
    for point in swept("gpt2-small", "kvcache.sequence", "--over", "context=1:3"):
        asked = get("gpt2-small", "kvcache.sequence", "--ctx", point["context"])
        assert point["kvcache.sequence"] == str(asked)


def test_a_model_that_is_refused_comes_before_any_line() -> None:
    ran = run("sweep", "gpt3", "flops.total", "--over", "model=gpt3,tyo", "--format", "csv")
    assert (ran.code, ran.out) == (2, "")


def lines_of(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    yield from process.stdout


def test_ctrl_c_leaves_whole_lines_and_ends_with_130() -> None:
    process = subprocess.Popen(
        [*TXCALC, "sweep", "gpt2-small", "flops.total", "--over", "ctx=1:1000000000",
         "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    lines = lines_of(process)
    seen = [next(lines) for _ in range(3)]
    process.send_signal(signal.SIGINT)
    seen += list(lines)
    assert process.wait(60) == 130
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.stdout is not None
    process.stdout.close()
    assert all(line.endswith(b"\n") for line in seen)
    assert [int(line.split(b",")[0]) for line in seen[1:]] == list(range(1, len(seen)))


def test_ctrl_c_ends_a_sweep_that_nobody_reads() -> None:
    """A pipe is full after 64 KiB: whoever has stopped to read must not keep it from ending."""
    process = subprocess.Popen(
        [*TXCALC, "sweep", "llama-2-7b", "flops.total", "--over", "ctx=1:1000000000",
         "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == b"ctx,flops.total\n"
        time.sleep(0.3)  # in which it fills the pipe
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == b""


def test_a_closed_pipe_ends_quietly() -> None:
    command = (
        f"{TXCALC[0]} -m txcalc sweep llama-2-7b flops.total --over ctx=1:9999999 --format csv"
    )
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{command} | head -n 2"], capture_output=True, env=environment(),
        timeout=60, check=True,
    )  # fmt: skip
    first = get("llama-2-7b", "flops.total", "--ctx", 1)
    assert ran.stdout.decode() == f"ctx,flops.total\n1,{first}\n"
    assert ran.stderr == b""


def test_memory_does_not_grow_with_the_points() -> None:
    resource = pytest.importorskip("resource")

    def peak(*over: str) -> int:
        code = (
            "import resource, sys, os; from txcalc.cli import main\n"
            "sys.argv = 'txcalc sweep llama-2-7b kvcache.total --format csv'.split()\n"
            f"for axis in {over}: sys.argv += ['--over', axis]\n"
            "sys.stdout = open(os.devnull, 'w')\n"
            "try: main()\nexcept SystemExit: pass\n"
            "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))"
        )
        ran = subprocess.run(
            [TXCALC[0], "-c", code], capture_output=True, env=environment(), timeout=60, check=True
        )
        return int(ran.stderr)

    assert resource
    few = peak("ctx=1:10000")
    assert peak("ctx=1:150000") < 1.1 * few
    assert peak("ctx=1:150000", "batch=1") < 1.2 * few


def test_the_function_of_the_library_is_the_same_derivation() -> None:
    model = txcalc.load("gpt2-small")
    flops = txcalc.function(model, "flops.total", "ctx", "batch", phase="prefill")
    for ctx, batch in ((1, 1), (1024, 8), (7, 3)):
        asked = txcalc.get(model, "flops.total", ctx=ctx, batch=batch, phase="prefill")
        assert flops(ctx, batch) == asked
        assert flops(ctx, batch=batch) == asked
    token = txcalc.function(model, "flops.total", "ctx", "batch")
    assert token(1024, 8) == token(1024, 1) == txcalc.get(model, "flops.total", ctx=1024)


def test_a_bar_is_shown_on_a_terminal_alone_and_only_after_a_moment() -> None:
    long = ("sweep", "gpt3", "concurrency.ratio", "--over", "ctx=1:2000000", "--format", "csv")
    command = [*TXCALC, *long]
    pty = pytest.importorskip("pty")
    reading, writing = pty.openpty()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=writing, env=environment(COLUMNS="80")
    )
    os.close(writing)
    shown = b""
    with contextlib.suppress(OSError):  # Linux tells the end of a terminal like this
        while chunk := os.read(reading, 4096):
            if b"points" in chunk and b"points" not in shown:
                process.send_signal(signal.SIGINT)
            shown += chunk
    os.close(reading)
    assert process.wait(60) == 130
    assert re.search(rb"points .* [0-9]+%", shown)
    quick = started("sweep", "toy", "flops.total", "--over", "ctx=1:9", "--format", "csv")
    assert quick.stderr == b""
    assert "points" not in on_terminal("sweep", "toy", "flops.total", "--over", "ctx=1:9")


def test_a_fraction_behind_a_choice_is_a_decimal_or_exact() -> None:
    """5.38 GiB are no whole number of bytes, and the larger of two numbers may be either."""
    asked = ("sweep", "llama-3.1-8b", "fit.missing", "--kv-memory", "5.38", "--over", "ctx=9,10Mi")
    budget, token = Fraction("5.38") * 2**30, 32 * 2 * 8 * 128 * 2
    missing = 10 * 2**20 * token - budget
    assert run(*asked, "--format", "csv").out.splitlines()[1:] == [
        "9,0",
        f"10485760,{float(missing)!r}",
    ]
    line = json.loads(run(*asked, "--format", "json").out.splitlines()[1])
    assert Fraction(line["fit.missing"]["exact"]) == missing
