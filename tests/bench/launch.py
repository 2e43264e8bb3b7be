"""Runs commands in turns and tells the times and the memory of each run, as JSON.

    python -I -S launch.py ROUNDS COMMAND...

A command is a JSON list.  This runs in a process of its own because a child's peak of memory is
never below that of the process it was started from, and pytest is larger than what is measured.
"""

import json
import os
import sys
import time


def run(command: list[str]) -> tuple[float, float, int]:
    """Seconds, seconds of computing and peak resident KiB of a run whose output goes to a pipe."""
    ours, theirs = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, theirs, 1), (os.POSIX_SPAWN_CLOSE, ours)]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    os.close(theirs)
    while os.read(ours, 65536):
        pass
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    os.close(ours)
    if status:
        raise SystemExit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    peak = usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)
    return seconds, usage.ru_utime + usage.ru_stime, peak


def main() -> None:
    """One run of each to warm the caches, then the rounds."""
    commands = [json.loads(argument) for argument in sys.argv[2:]]
    for command in commands:
        run(command)
    rounds = [[run(command) for command in commands] for _ in range(int(sys.argv[1]))]
    print(json.dumps(rounds))


if __name__ == "__main__":
    main()
