"""Reads what a job has written as Parquet: read_parquet.py FOLDER. test/jobs/parquet.cpp writes it.

Each folder in FOLDER has the same 3,000 rows, whose values follow from the row's number. DuckDB, Polars, pandas and
pyarrow read them; those that are not installed are named and left out.
"""

import importlib
import math
import os
import sys

names = "number", "half", "text", "is_even", "large", "third", "a", "b"


def row(n):
    return (n, None if n % 3 == 0 else 0.5 * n, f"text {n % 11} \u00fc", n % 2 == 0, 2 ** 64 - 1 - n, n / 3,
            n % 100 - 50, None if n % 5 == 0 else str(n))


def by_duckdb(duckdb, pattern):
    return duckdb.sql(f"select {', '.join(names)} from read_parquet('{pattern}') order by number").fetchall()


def by_polars(polars, pattern):
    return polars.read_parquet(pattern).select(names).sort("number").rows()


def by_pyarrow(pyarrow, pattern):
    table = importlib.import_module("pyarrow.parquet").read_table(os.path.dirname(pattern)).sort_by("number")
    return list(zip(*(table[name].to_pylist() for name in names)))


def by_pandas(pandas, pattern):
    frame = pandas.read_parquet(os.path.dirname(pattern), dtype_backend="pyarrow").sort_values("number")
    return [tuple(None if pandas.isna(value) else value for value in values)
            for values in frame[list(names)].itertuples(index=False, name=None)]


def same(got, expected):
    if isinstance(expected, float) and got is not None:
        return math.isclose(got, expected, rel_tol=1e-6)  # "third" is a float32
    return got == expected


readers = {name: globals()["by_" + name] for name in ("duckdb", "polars", "pyarrow", "pandas")}
found = 0
for name, read in readers.items():
    try:
        module = importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: it reads nothing")
        continue
    found += 1
    for folder in sorted(os.listdir(sys.argv[1])):
        rows = read(module, f"{sys.argv[1]}/{folder}/*.parquet")
        assert len(rows) == 3000, f"{name}: {folder} has {len(rows)} rows"
        for n, got in enumerate(rows):
            assert all(map(same, got, row(n))), f"{name}: {folder}: expected {row(n)}, got {got}"
assert found, "none of the readers is installed"
