"""Keras says anew what tests compare with: models_by_keras.py SCRIPT HEADER..."""

import sys

from kept_numbers import judge_with

judge_with(("keras", "jax"), sys.argv[1:])
