"""What the baselines of steps measure alike."""

import time


def steps_per_second(run, seconds):
    """Of `run(steps)`, which returns when that many steps are made; the first ones do not count."""
    run(4)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() < start + seconds:
        run(8)
        steps += 8
    return steps / (time.perf_counter() - start)
