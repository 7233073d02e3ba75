"""scikit-learn says anew what the tests of ensembles compare with: ensembles_by_scikit_learn.py VOTES_PY VOTES_H."""

import sys

from kept_numbers import judge

judge(*sys.argv[1:])
