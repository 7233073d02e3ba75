"""Jobs as people write them for other engines: jobs_peers.py PEER JOB THREADS NAME=VALUE... prints the seconds."""

import glob
import os
import shutil
import sys
import time

peer, job, threads = sys.argv[1:4]
given = dict(argument.split("=", 1) for argument in sys.argv[4:])
os.environ["POLARS_MAX_THREADS"] = threads
os.makedirs(os.path.dirname(given["output"]), exist_ok=True)


def polars_word_count():
    import polars as pl
    lines = pl.scan_csv(given["input"], has_header=False, new_columns=["line"], separator="\x01", quote_char=None)
    words = lines.select(pl.col("line").str.extract_all(r"\S+").explode().alias("word")).drop_nulls()
    words.group_by("word").len().collect(engine="streaming").write_csv(given["output"], include_header=False)


def duckdb_connection():
    import duckdb
    db = duckdb.connect(config={"temp_directory": given["output"] + ".tmp"})
    db.execute(f"set threads={threads}")
    if "memory" in given:
        db.execute(f"set memory_limit='{given['memory']}'")
        db.execute("set preserve_insertion_order=false")
    return db


def duckdb_word_count():
    duckdb_connection().execute(f"""
        copy (select word, count(*) from (select unnest(string_split_regex(line, '\\s+')) as word
              from read_csv('{given["input"]}', header=false, columns={{'line': 'varchar'}}, delim='\\x01', quote='',
                            escape='', auto_detect=false)) where word <> '' group by word)
        to '{given["output"]}' (header false)""")


def duckdb_count_keys():
    duckdb_connection().execute(f"""
        copy (select key, count(*) from read_csv('{given["input"]}', header=false, columns={{'key': 'bigint'}},
                                                 auto_detect=false) group by key)
        to '{given["output"]}' (header false)""")


def duckdb_q1():
    from tpch_queries import q1, view
    db = duckdb_connection()
    view(db, given["tables"])
    db.execute(f"copy ({q1}) to '{given['output']}' (header false)")


def duckdb_q3():
    from tpch_queries import q3, view
    db = duckdb_connection()
    view(db, given["tables"])
    db.execute(f"copy ({q3}) to '{given['output']}' (header false)")


def pyspark_session():
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master(f"local[{threads}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "4g")
    return builder.config("spark.sql.shuffle.partitions", threads).getOrCreate()


def pyspark_word_count():
    lines = pyspark_session().read.text(given["input"])
    words = lines.selectExpr("explode(split(value, '\\\\s+')) as word").where("word <> ''")
    words.groupBy("word").count().write.mode("overwrite").option("escape", '"').csv(given["output"] + ".parts")


def spark_warm_up():
    """Starts the virtual machine, which is not counted."""
    pyspark_session().range(1).count()


def spark_join_parts():
    with open(given["output"], "wb") as joined:
        for part in glob.glob(given["output"] + ".parts/part-*"):
            joined.write(open(part, "rb").read())
    shutil.rmtree(given["output"] + ".parts")


__import__(peer)
if peer == "pyspark":
    spark_warm_up()
start = time.monotonic()
globals()[f"{peer}_{job}"]()
print(time.monotonic() - start)
if peer == "pyspark":
    spark_join_parts()
