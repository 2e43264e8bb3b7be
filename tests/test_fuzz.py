"""A parser that is given anything ends in an answer or in an error of its own."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.test_bad_descriptions import GOOD
from tests.support.counting import Tree
from tests.support.describing import descriptions
from tests.support.fuzz import MEGABYTES, VALUES, ask, attempt, mutated, places
from tests.support.running import find, load, named, refusal_of, save
from txcalc.sources import yaml

LIMITED = f"""
import resource
resource.setrlimit(resource.RLIMIT_DATA, ({MEGABYTES * 2**20},) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
from txcalc.cli import main
main()
"""
BLOCK = "  b{}: {{norm: rms, ffn: {{kind: plain, d_ff: 3}}}}\n"


@given(st.randoms(use_true_random=False))
def test_a_mutated_description_is_answered_or_refused(rng: random.Random) -> None:
    path = Path(save({}))
    path.write_bytes(mutated(rng))
    ask(str(path), rng, share=1)


@given(descriptions(), st.data())
def test_a_description_with_one_branch_exchanged(tree: Tree, data: st.DataObject) -> None:
    branches = list(places(tree))
    holder, key = branches[data.draw(st.integers(0, len(branches) - 1))]
    holder[key] = data.draw(st.sampled_from(VALUES))
    attempt(lambda: load(tree))


@given(st.binary(max_size=200))
def test_bytes_are_read_or_refused(raw: bytes) -> None:
    path = Path(save({}))
    path.write_bytes(raw)
    refusal = refusal_of(lambda: yaml.read(str(path)))
    assert not refusal or refusal.startswith(str(path))


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_change_is_carried_out_or_refused(name: str, value: str) -> None:
    for change in (f"{name}={value}", f"d_model={value}", f"ffn.{name}={value}"):
        model = attempt(lambda change=change: named("toy", [change]))
        assert model is None or find(model, "params.total") > 0


@given(st.text(alphabet="abdelmnoprstfk._ ", max_size=40))
def test_any_address_is_answered_or_refused(address: str) -> None:
    value = attempt(lambda: find(named("toy"), address))
    assert value is None or value >= 0


@given(st.integers(-(10**30), 10**30))
def test_any_integer_is_read_as_itself(number: int) -> None:
    assert yaml.parse(f"a: {number}", "text") == {"a": number}


@pytest.mark.parametrize(
    "text", ["010", "0x1F", "1e5", "1_000", "1:30", "+1", "1.0", ".inf", "no", "yes", "on", "Off",
             "2001-01-01", "TRUE", "NULL", "=", "0b1", "0o7", "--1", "٣"]
)  # fmt: skip
def test_what_yaml_guesses_at_stays_text(text: str) -> None:
    assert yaml.parse(f"a: {text}", "text") == {"a": text}


def test_what_stays_no_text() -> None:
    text = "{a: 1, b: -2, c: 0, d: true, e: false, f: null, g: ~, h: , i: '1'}"
    tree = yaml.parse(text, "text")
    assert tree == {"a": 1, "b": -2, "c": 0, "d": True, "e": False, "f": None, "g": None,
                    "h": None, "i": "1"}  # fmt: skip


def many_blocks(count: int) -> str:
    names = ", ".join(f"b{i}" for i in range(count))
    blocks = "".join(BLOCK.format(i) for i in range(count))
    head, _, _ = GOOD.partition("parts:")
    return f"{head}blocks:\n{blocks}layers: {{count: {count}, pattern: [{names}]}}\n"


def many_tensors(count: int) -> str:
    return "".join(f"t{i}: {{use: matmul, dims: [3, 3]}}, " for i in range(count))


def like_parts(count: int) -> str:
    return "".join(f"  layer_attention_{i:05}: {{kind: mha, n_heads: 4}}\n" for i in range(count))


def many_directives(end: str) -> str:
    """After a line without one, so that only the end of a line comes before each."""
    return f"#{end}" + "".join(f"%TAG !e{i}! tag:a,2000:{end}" for i in range(25_000)) + "---\na: 1"


HOSTILE = {
    "blocks": many_blocks(10_000),
    "an-unknown-block-of-many": many_blocks(10_000).replace("pattern: [b0,", "pattern: [bx,"),
    "a-long-pattern": GOOD.replace("[dense, sparse]", "[" + "dense, " * 90_000 + "sparse]"),
    "a-long-start": GOOD.replace(
        "count: 3", "count: 100000, first: [" + "dense, " * 90_000 + "dense]"
    ),
    "tensors": GOOD.replace("{conv:", "{" + many_tensors(20_000) + "conv:"),
    "dims": GOOD.replace(
        "{use: matmul, dims: [", "{use: elementwise, dims: [" + "999999999, " * 60_000
    ),
    "keys": GOOD + "".join(f"key{i}: 1\n" for i in range(60_000)),
    "a-long-name": GOOD.replace("name: small", "name: " + "n" * 900_000),
    "a-long-number": GOOD.replace("d_model: 8", "d_model: " + "8" * 900_000),
    "a-long-kind": GOOD.replace("kind: plain", "kind: " + "plain" * 180_000),
    "a-long-letter": GOOD.replace("[d_ff, d_model]", "[" + "d_model" * 100_000 + ", 2]"),
    "a-key-twice": GOOD + "key: 1\n" * 100_000,
    "like-names": GOOD.replace("parts:", "parts:\n" + like_parts(9_000)).replace(
        "attention: own", "attention: layer_attention_x"
    ),
    "colons": "---\n" + ": " * 400_000,
    "directives": many_directives("\n"),
    "directives-after-cr": many_directives("\r"),
    "directives-after-nel": many_directives("\x85"),
    "directives-after-ls": many_directives("\u2028"),
    "factors": GOOD.replace("[d_ff, d_model]", "[" + "2*" * 400_000 + "d_ff, d_model]"),
    "comments": "# comment\n" * 90_000,
    "brackets": "[" * 900_000,
    "quotes": "a: '" + "''" * 400_000,
}


ASKED = [
    *((case, "params") for case in HOSTILE),
    *((case, "get") for case in ("blocks", "tensors", "dims", "a-long-pattern", "a-long-name")),
]


@pytest.mark.parametrize(("case", "command"), ASKED)
def test_a_hostile_file_ends_within_a_second_and_100_megabytes(
    case: str, command: str, tmp_path: Path
) -> None:
    """Two seconds of processor time, the start of Python and of a slow machine among them."""
    path = tmp_path / "hostile.yaml"
    path.write_text(HOSTILE[case], "utf-8")
    address = ["params.totl"] if command == "get" else []
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, command, str(path), *address],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, timeout=60,
    )  # fmt: skip
    assert ran.returncode in (0, 2), ran.stderr[-300:]
    assert len(ran.stderr) < 5000
