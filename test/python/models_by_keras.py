"""Keras says anew what tests compare with: models_by_keras.py SCRIPT HEADER..."""

import importlib.util
import sys

from kept_numbers import judge

if missing := [package for package in ("keras", "jax") if importlib.util.find_spec(package) is None]:
    print(f"skipped: no {' and no '.join(missing)}; test/python/README.md says how to install them")
    sys.exit(77)
for script, header in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    judge(script, header)
