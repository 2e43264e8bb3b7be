"""Command lines that are wrong: ``python -m tests.fuzz.options --seed 0 --inputs 1000``."""

from __future__ import annotations

import json
import random

from tests.fuzz.campaign import main
from tests.fuzz.commands import called, wrong
from tests.support.fuzz import ADDRESSES, CHANGES, VALUES
from tests.support.running import BUNDLED

COMMANDS = ("params", "flops", "kvcache", "intensity", "concurrency", "memory", "fit", "roofline",
            "regimes", "compare", "solve", "generation",
            "shapes", "show", "models", "devices", "addresses", "import", "get", "explain", "sweep",
            "-h", "--version", "")  # fmt: skip
OPTIONS = ("--ctx", "--batch", "--phase", "--scores", "--prompt", "--new", "--dtype", "--weights",
           "--kv", "--tp", "--pp", "--dp", "--stages", "--device", "--count", "--requests",
           "--kv-memory", "--utilisation", "--overhead", "--format", "--type", "--depth",
           "--source", "--logits", "--mla", "--block-size", "--tokens", "--nothing", "-x",
           "--")  # fmt: skip
FLAGS = ("--explain", "--exact", "--strict", "--tensors", "--macs", "-h", "--help")
WORDS = (
    *(value for value in VALUES if isinstance(value, str)), "0", "1", "7", "-1", "1e9", "32k",
    "32Ki", "1,000", "9" * 400, "9" * 5000, "0." + "9" * 400, "1e400", "nan", "inf", "fp16", "int4",
    "fp8,q=int4", "token", "decode", "prefill", "train", "json", "csv", "markdown", "table",
    "a100-80gb", "h100-sxm", "\udcff", "\x1b[2J", "a\nb\rc", "=1+1", "1:10", "1:10:x2", "8:1", "\0",
    "*", "%s", "{}", "(" * 60, "params.total/0", "6*n(params.total)", "params.total-flops.total",
)  # fmt: skip
AXES = ("ctx", "batch", "n_layers", "d_model", "model", "head_dim", "tp", "")


def words(rng: random.Random) -> list[str]:
    """A command, a model, addresses and options, any of which may be wrong."""
    command = rng.choice((*COMMANDS, *WORDS[:5]))
    line = [command, rng.choice((*BUNDLED, "toy", "toy", *WORDS))]
    if command in ("get", "explain", "sweep") or rng.random() < 0.1:
        line.append(rng.choice((*ADDRESSES, "params.total", "flops.total", *WORDS)))
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        match rng.randrange(4):
            case 0:
                line.append(rng.choice(FLAGS))
            case 1:
                value = rng.choice((*map(json.dumps, VALUES), *WORDS))
                line += ["--set", rng.choice(CHANGES).format(value)]
            case _:
                line += [rng.choice(OPTIONS), rng.choice(WORDS)]
    if command == "sweep":
        line += ["--over", f"{rng.choice(AXES)}={rng.choice((*WORDS, 'toy,gpt2-small', '1,2,4'))}"]
    if rng.random() < 0.05:
        rng.shuffle(line)
    return line


def case(rng: random.Random) -> str:
    """How one command line ends."""
    line = words(rng)
    ran = called(*line, encoding=rng.choice(("utf-8", "utf-8", "ascii", "latin-1")))
    return wrong(ran, ascii([word[:60] for word in line]))


if __name__ == "__main__":
    main(case)
