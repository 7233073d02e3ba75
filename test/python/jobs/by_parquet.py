"""Judges jobs that read Parquet files: by_parquet.py FOLDER_OF_PROGRAMS TEXT.

Three writers make such files of the tables of TPC-H; what `sql` makes of them has to be what DuckDB makes of the
tables as CSV.
"""

import os
import shutil
import subprocess

import duckdb
import polars
import pyarrow.csv
import pyarrow.parquet

import inputs
import judging
import table_jobs


class DuckDb:
    read = staticmethod(judging.rows)

    def query(self, tables, sql):
        for name, path in tables.items():
            duckdb.sql(f"create or replace view {name} as select * from read_csv('{path}')")
        return duckdb.sql(sql).fetchall()

    def q1(self, tables):
        return self.query(tables, inputs.q1)

    def q3(self, tables):
        return self.query(tables, inputs.q3)


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


def run_q1(program):
    """Of a file that is none."""
    open("bad.parquet", "wb").write(b"PAR1")
    return subprocess.run([program, "q1", "--lineitem", "bad.parquet", "--output", "none"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def expect_said(found, said):
    if found.returncode != 1 or said not in found.stdout or os.path.exists("none"):
        raise SystemExit(f"expected status 1 and '{said}', got {found.returncode} and: {found.stdout}")


def judge_errors():
    """A program that does not find its module says how to get it."""
    advice = "libparquet-dev"
    shutil.copy(f"{judging.programs}/sql", "sql_alone")
    expect_said(run_q1("./sql_alone"), advice)
    print("without the module: as expected", flush=True)
    found = run_q1(f"{judging.programs}/sql")
    if advice in found.stdout:
        judging.skip("built without Arrow; README.md says how to read Parquet files")
    expect_said(found, "'bad.parquet' is damaged, or no Parquet file")
    print("of a bad file: as expected", flush=True)


judging.in_own_folder(judge_errors, judge_writers)
