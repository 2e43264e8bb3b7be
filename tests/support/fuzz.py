"""Descriptions and configs with something wrong in them, and what is asked of them.

Each has bytes or branches changed, and is asked for some accounts in some format, with a change and
an address that are made up as well.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from tests.sources.test_bad_descriptions import GOOD
from tests.support.running import ACCOUNTS, BUNDLED, DATA, named
from txcalc.accounts import registry
from txcalc.errors import TxcalcError
from txcalc.render import render
from txcalc.report.report import Report
from txcalc.sources import bundled
from txcalc.workload.question import Question

MEGABYTES = 100
LARGE = 1000
"""Characters of a branch that is not grown: a thousand times as many reach any limit of a file."""
ASKED = (*ACCOUNTS, "shapes", "show", "catalogue")

VALUES: tuple[Any, ...] = (
    0, 1, 2, 3, 7, -1, 10**15, 10**15 + 1, 10**40, 1.5, True, False, None, "", " ", "x", "none",
    "010", "1e5", "no", "d_model", "n_heads", "attention", "ffn", "decoder", "block", "é", "\u2028",
    "a.b", "..", "x" * 3000, [], [[]], [1], ["decoder"], ["q", "q"], {}, {"kind": "mha"},
    {"kind": "moe"}, {"kind": None}, {"": 1}, [None],
)  # fmt: skip
SNIPPETS = (
    b":", b"- ", b"{", b"}", b"[", b"]", b",", b"\n", b"\t", b"  ", b"&a ", b"*a", b"!!int ",
    b"|\n", b">\n", b"'", b'"', b"#", b"---\n", b"...\n", b"<<: ", b"? ", b"\xff", b"\0",
    b"\xef\xbb\xbf",
    b"9" * 20, b"0", b"-", b"~", b"null", b"true", b"%YAML 1.1\n", b"\xc3\xa9", b"\r\n", b"@", b"`",
)  # fmt: skip
ADDRESSES = ("params.total", "params.block", "flops.total", "kvcache.sequence", "dims.d_model", "",
             ".", "params.", "block", "params.block..q", "x" * 500)  # fmt: skip
CHANGES = ("d_model={}", "n_layers={}", "ffn.kind={}", "layers.count={}", "head={}", "blocks={}",
           "attention.n_heads={}", "x={}", "{}", "vocab={}", "layers.pattern={}")  # fmt: skip


def seeds() -> list[str]:
    """Descriptions to begin with."""
    texts = [Path(bundled.find(name)).read_text("utf-8") for name in BUNDLED]
    published = yaml.safe_load((DATA / "published.yaml").read_text("utf-8"))["models"]
    texts += [json.dumps({"name": name, **tree}) for name, tree in published.items()]
    return [*texts, GOOD]


SEEDS = seeds()


def mutated(rng: random.Random, texts: Sequence[str] = SEEDS) -> bytes:
    """One of some texts in YAML with something wrong, often."""
    text = rng.choice(texts)
    if rng.random() < 0.25:
        return broken(rng, text.encode())
    tree = copy.deepcopy(_tree(text))
    for _ in range(rng.choice((0, 1, 1, 3))):
        grafted(rng, tree)
    for _ in range(rng.choice((0, 1, 5))):
        resized(rng, tree)
    written = json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return broken(rng, written) if rng.random() < 0.1 else written


@cache
def _tree(text: str) -> Any:
    return yaml.safe_load(text)


def broken(rng: random.Random, raw: bytes) -> bytes:
    """Bytes changed, removed, repeated or put in."""
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(raw) + 1), rng.randint(1, 30)
        match rng.randrange(5):
            case 0:
                raw = raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :]
            case 1:
                raw = raw[:at] + raw[at + length :]
            case 2:
                raw = raw[:at] + raw[at : at + length] * rng.choice((2, 2, 50)) + raw[at + length :]
            case 3:
                raw = raw[:at] + rng.choice(SNIPPETS) + raw[at:]
            case 4:
                other = rng.randrange(len(raw) + 1)
                raw = raw[:at] + raw[other : other + length] + raw[at:]
    return raw


def grafted(rng: random.Random, tree: Any) -> None:
    """One branch changed, removed, moved, renamed or grown in place."""
    branches = list(islice(places(tree), 10_000))
    holder, key = rng.choice(branches)
    match rng.randrange(6):
        case 0 | 1:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        case 2:
            del holder[key]
        case 3:
            other, name = rng.choice(branches)
            if name in other if isinstance(other, dict) else name < len(other):
                holder[key] = copy.deepcopy(other[name])
        case 4 if isinstance(holder, dict):
            others = [name for branch, name in branches if isinstance(branch, dict)]
            holder[rng.choice([*others, "x", "", 'a"b', "kind"])] = holder.pop(key)
        case _:
            grow(rng, holder, key)


def resized(rng: random.Random, tree: Any) -> None:
    """One size changed for another; what stays a model is asked everything."""
    first = islice(places(tree), 10_000)
    sizes = [(holder, key) for holder, key in first if type(holder[key]) is int]
    if sizes:
        holder, key = rng.choice(sizes)
        holder[key] = rng.choice((1, 2, 3, 5, 12, 60, 61, 10**6, 10**9 + 7, 10**15))


def grow(rng: random.Random, holder: Any, key: Any) -> None:
    """Many of what there was one of, unless that is large already."""
    if len(json.dumps(holder[key])) > LARGE:
        return
    times = rng.choice((2, 10, 300, 3000))
    if isinstance(holder[key], list):
        holder[key] = holder[key] * times
    elif isinstance(holder, dict) and isinstance(holder[key], dict):
        holder |= {f"{key}{i}": holder[key] for i in range(min(times, 300))}
    else:
        holder[key] = [holder[key]] * times


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every branch as its holder and key."""
    for key, branch in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        yield tree, key
        if isinstance(branch, dict | list):
            yield from places(branch)


def ask(path: str, rng: random.Random, share: float = 0.3) -> bool:
    """A share of the accounts of a description in some format, and one changed.

    Returns:
        Whether it was one at all.
    """
    question = Question(
        ctx=rng.choice((None, 1, 7, 2048, 10**15)),
        batch=rng.choice((1, 3)),
        phase=rng.choice(("token", "prefill", "decode", "train")),
        scores=rng.choice(("full", "causal", "square", "none")),
        new=rng.choice((1, 100, 10**15)),
    )
    model = attempt(lambda: named(path))
    change = rng.choice(CHANGES).format(json.dumps(rng.choice(VALUES)))
    attempt(lambda: named(path, [change]))
    if model is None:
        return False
    layouts = {"shapes": "shapes", "generation": "steps"}
    for name in [name for name in ASKED if rng.random() < share]:
        layout: Any = layouts.get(name, rng.choice(("figures", "figures", "tensors")))
        if layout == "tensors" and name != "params":
            layout = "figures"
        answer: Report | None = attempt(lambda name=name: registry.account(name, model, question))
        if answer is not None and name not in ("dims", "weights"):
            fmt: Any = rng.choice(("table", "json", "csv", "markdown"))
            attempt(lambda a=answer, f=fmt, y=layout: render([a], f, y))
    address = rng.choice(ADDRESSES)
    attempt(lambda: registry.report_of(address, model, question).find(address))
    return True


def attempt(act: Callable[[], Any]) -> Any:
    """What an act gives, or nothing where txcalc refuses it."""
    try:
        return act()
    except TxcalcError:
        return None
