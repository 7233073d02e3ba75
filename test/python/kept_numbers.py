"""Compares the numbers that a header keeps with those that the script which has written it prints now."""

import importlib.util
import re
import subprocess
import sys

TOLERANCE = 1e-5  # of a test's numbers; another CPU rounds in another order


def lists_in(header):
    """The lists of numbers of a header, by their places and names."""
    found = re.findall(r"(\w*)\s*\{([-+.,\deE\s]+)\}", header)
    return {f"list {place} {name}".rstrip(): [float(number) for number in numbers.split(",") if number.strip()]
            for place, (name, numbers) in enumerate(found)}


def differences(expected, actual):
    """What differs, a line each."""
    lines = [f"only one of the two has {name}" for name in sorted(expected.keys() ^ actual.keys())]
    for name in sorted(expected.keys() & actual.keys()):
        pairs = list(zip(expected[name], actual[name]))
        if len(expected[name]) != len(actual[name]):
            lines.append(f"{name}: expected {len(expected[name])} numbers, got {len(actual[name])}")
        elif (apart := max(abs(a - b) for a, b in pairs)) > TOLERANCE:
            lines.append(f"{name}: {apart} apart, expected {TOLERANCE} at most")
    return lines


def judge(script, header):
    """Ends the program, saying what differs, unless the header is what the script says, but for rounding."""
    with open(header, encoding="utf-8") as file:
        kept = lists_in(file.read())
    said = lists_in(subprocess.run([sys.executable, script], check=True, capture_output=True, text=True).stdout)
    moved = {name: [numbers[0] + 2 * TOLERANCE, *numbers[1:]] for name, numbers in said.items()}
    if len(differences(moved, kept)) != len(kept) or len(kept) < 10:
        sys.exit(f"of {len(kept)} lists, moved ones are not told from others")
    if wrong := differences(said, kept):
        sys.exit(f"{header} is not what {script} says; write it anew:\n" + "\n".join(wrong))


def judge_with(packages, pairs):
    """judge() for scripts and headers by turns; ends as skipped (77), saying so, where a package is missing."""
    if missing := [package for package in packages if importlib.util.find_spec(package) is None]:
        print(f"skipped: no {' and no '.join(missing)}; test/python/README.md says how to install them")
        sys.exit(77)
    for script, header in zip(pairs[::2], pairs[1::2], strict=True):
        judge(script, header)
