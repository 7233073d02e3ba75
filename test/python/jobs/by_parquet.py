"""Judges jobs that read Parquet files: by_parquet.py FOLDER_OF_PROGRAMS TEXT.

Three writers make such files of the tables of TPC-H; what `sql` makes of them has to be what DuckDB makes of the
tables as CSV.
"""

import glob
import os
import re
import shutil
import subprocess

import duckdb
import polars
import pyarrow.csv
import pyarrow.parquet

import duckdb_queries
import inputs
import judging
import table_jobs


class DuckDb(duckdb_queries.DuckDbQueries):
    read = staticmethod(judging.rows)


numbers = "l_quantity", "l_extendedprice", "l_discount", "l_tax"


def by_duckdb(source, path):
    """Numbers are decimals."""
    table = duckdb.sql(f"select * from read_csv('{source}')")
    columns = [f"{name}::decimal(15, 2) as {name}" if name in numbers else name for name in table.columns]
    duckdb.sql(f"copy (select {', '.join(columns)} from read_csv('{source}')) to '{path}' "
               "(format parquet, codec zstd, row_group_size 4096)")


def by_pyarrow(source, path):
    """Texts lie in dictionaries."""
    options = pyarrow.csv.ConvertOptions(auto_dict_encode=True, column_types=dict.fromkeys(numbers, "double"))
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(source, convert_options=options), path, compression="snappy",
                                row_group_size=3000, data_page_version="2.0")


def by_polars(source, path):
    """Pages are small."""
    table = polars.read_csv(source, try_parse_dates=True)
    table = table.with_columns(polars.col(name).cast(polars.Float64) for name in numbers if name in table.columns)
    table.write_parquet(path, compression="lz4", row_group_size=5000, data_page_size=10000)


def written(tables, write):
    """The same tables, by name, as Parquet."""
    folder = write.__name__
    os.mkdir(folder)
    paths = {name: f"{folder}/{name}.parquet" for name in tables}
    for name, path in paths.items():
        write(tables[name], path)
    return paths


def judge_writers():
    tables = inputs.tpch()
    for write in by_duckdb, by_pyarrow, by_polars:
        table_jobs.judge_queries(DuckDb(), tables, written(tables, write), write.__name__)


def run_q1(program, **variables):
    """Of a file that is none."""
    open("bad.parquet", "wb").write(b"PAR1")
    return subprocess.run([program, "q1", "--lineitem", "bad.parquet", "--output", "none"], text=True,
                          env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def expect_said(found, said):
    if found.returncode != 1 or said not in found.stdout or os.path.exists("none"):
        raise SystemExit(f"expected status 1 and '{said}', got {found.returncode} and: {found.stdout}")


def expect_older_refused():
    """One whose function has another name. False if there is no module."""
    built = glob.glob(f"{judging.programs}/../lib*/libactorflow_parquet-*")
    for module in built:
        folder = os.path.basename(os.path.dirname(module))
        os.makedirs(f"older/{folder}")
        os.makedirs("older/bin", exist_ok=True)
        shutil.copy(f"{judging.programs}/sql", "older/bin")
        with open(module, "rb") as file:
            content = file.read()
        name = b"actorflow_open_parquet_"
        if name not in content:
            raise SystemExit(f"expected a name with {name} in {module}")
        with open(f"older/{folder}/{os.path.basename(module)}", "wb") as file:
            file.write(content.replace(name, name.replace(b"open", b"read")))
        expect_said(run_q1("older/bin/sql"), "build the target actorflow_parquet")
    return bool(built)


def expect_own_names():
    """pyarrow brings an OpenSSL, and calls that one. False for a build that has none, or that sanitizers watch."""
    run_q1(f"{judging.programs}/sql", LD_DEBUG="bindings", LD_DEBUG_OUTPUT="bindings")
    bindings = "".join(open(path).read() for path in glob.glob("bindings.*"))
    called = set(re.findall(r"binding file \S*/pyarrow/\S+ \[0\] to (\S+)", bindings))
    if not called or "/libasan.so" in bindings or "/libtsan.so" in bindings:
        return False
    ours = [path for path in called if re.search(r"/(libcrypto|libssl)\.so|/sql$", path)]
    if ours:
        raise SystemExit(f"expected that pyarrow's libraries call none of ours, but they call {ours}")
    return True


def judge_errors():
    """A program that does not find its module says how to get it."""
    advice = "libparquet-dev"
    shutil.copy(f"{judging.programs}/sql", "sql_alone")
    expect_said(run_q1("./sql_alone"), advice)
    print("without the module: as expected", flush=True)
    if expect_older_refused():
        print("with an older module: as expected", flush=True)
    found = run_q1(f"{judging.programs}/sql")
    if advice in found.stdout:
        judging.skip("built without Arrow; README.md says how to read Parquet files")
    expect_said(found, "'bad.parquet' is damaged, or no Parquet file")
    print("of a bad file: as expected", flush=True)
    if expect_own_names():
        print("the module's names: as expected", flush=True)


judging.in_own_folder(judge_errors, judge_writers)
