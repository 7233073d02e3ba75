"""Jobs as people write them for other engines: jobs_peers.py PEER JOB THREADS INPUT OUTPUT prints the seconds."""

import os
import sys
import time

peer, job, threads, source, output = sys.argv[1:6]
os.environ["POLARS_MAX_THREADS"] = threads
if job != "word_count":
    sys.exit(f"jobs_peers.py: no job {job}")


def polars_word_count():
    import polars as pl
    lines = pl.scan_csv(source, has_header=False, new_columns=["line"], separator="\x01", quote_char=None)
    words = lines.select(pl.col("line").str.extract_all(r"\S+").explode().alias("word")).drop_nulls()
    words.group_by("word").len().collect(engine="streaming").write_csv(output, include_header=False)


def duckdb_word_count():
    import duckdb
    db = duckdb.connect()
    db.execute(f"set threads={threads}")
    db.execute(f"""copy (select word, count(*) from (select unnest(string_split_regex(line, '\\s+')) as word
                   from read_csv('{source}', header=false, columns={{'line': 'varchar'}}, delim='\\x01', quote='',
                                 escape='', auto_detect=false)) where word <> '' group by word)
                   to '{output}' (header false)""")


jobs = {"polars": polars_word_count, "duckdb": duckdb_word_count}
__import__(peer)
start = time.monotonic()
jobs[peer]()
print(time.monotonic() - start)
