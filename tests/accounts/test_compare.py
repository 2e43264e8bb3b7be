"""Models side by side: each cell is the figure of an account, and what is lacking has a reason."""

from __future__ import annotations

import json
import re

from tests.support.running import answer, find, named, run
from txcalc.sources.devices import load_device

NAMES = ("llama-3.1-70b", "mixtral-8x7b", "deepseek-v3")
OPTIONS = ("--device", "h100-sxm", "--count", "8", "--ctx", "32Ki", "--batch", "32")


def test_each_cell_is_the_figure_of_its_account() -> None:
    reports = json.loads(answer("compare", *NAMES, *OPTIONS, "--format", "json"))
    device = load_device("h100-sxm")
    for name, made in zip(NAMES[:2], reports, strict=False):
        rows = {row["address"]: row["value"] for row in made["rows"]}
        model, asked = named(name), {"ctx": 32 * 1024}
        on_device = {**asked, "device": device, "count": 8}
        assert rows["params.active"] == find(model, "params.active")
        assert rows["flops.total"] == find(model, "flops.total", phase="decode", **asked)
        assert rows["kvcache.sequence"] == find(model, "kvcache.sequence", **asked)
        assert rows["memory.gpu.weights"] == find(model, "memory.gpu.weights", tp=8, **asked)
        assert rows["fit.sequences"] == find(model, "fit.sequences", **on_device)
        for address, batch in (("compare.time.one", 1), ("compare.time.batch", 32)):
            time = find(
                model, "roofline.decode.time_with_communication", batch=batch, **on_device
            )  # fmt: skip
            assert rows[address] == float(time)


def test_what_does_not_fit_is_a_dash_with_its_reason() -> None:
    out = answer("compare", *NAMES, *OPTIONS)
    [line] = [line for line in out.splitlines() if line.startswith(" sequences at ctx")]
    assert line.split()[-2:] == ["-", "(1)"]
    assert re.search(r"\(1\) weights need [0-9.]+ GiB more than each GPU's 79.18 GiB", out)
    [last] = json.loads(answer("compare", NAMES[2], *OPTIONS, "--format", "json"))
    lacking = [row for row in last["rows"] if row["value"] is None]
    assert [row["address"] for row in lacking] == [
        "fit.sequences", "compare.time.one", "compare.time.batch",
    ]  # fmt: skip


def test_the_best_of_a_row_is_marked() -> None:
    out = answer("compare", *NAMES, "--ctx", "32Ki")
    cells = {line[:28].strip(): line[28:].split() for line in out.splitlines() if "*" in line}
    assert [name for name in cells if name] == [
        "active (parameters)", "a token in decode (FLOPs)", "cache of a token", "cache at ctx",
        "weights on each GPU", "* the best of its row",
    ]  # fmt: skip
    assert "12,879,925,248*" in cells["active (parameters)"]
    assert "*" not in answer("compare", "gpt3")


def test_a_model_that_states_no_format_is_in_dtype() -> None:
    out = answer("compare", "gpt3", "deepseek-v3", "--ctx", "1Ki", "--weights", "own")
    assert "deepseek-v3: weights own (fp8-128x128), the rest fp16" in out


def test_what_no_model_can_have() -> None:
    ran = run("compare", "gpt3", "--device", "l4", "--count", "3", "--tp", "2")
    assert (ran.code, ran.out) == (2, "")
    assert "--count 3, but the layout has 2 GPUs" in ran.err
