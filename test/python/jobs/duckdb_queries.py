"""The queries of TPC-H by DuckDB, over tables as CSV: a part of an engine (table_jobs.py)."""

import duckdb

import inputs


class DuckDbQueries:
    def query(self, tables, sql):
        for name, path in tables.items():
            duckdb.sql(f"create or replace view {name} as select * from read_csv('{path}')")
        return duckdb.sql(sql).fetchall()

    def q1(self, tables):
        return self.query(tables, inputs.q1)

    def q3(self, tables):
        return self.query(tables, inputs.q3)
