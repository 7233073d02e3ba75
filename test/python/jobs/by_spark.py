"""Spark judges the map/reduce programs: by_spark.py FOLDER_OF_PROGRAMS TEXT. Skipped without PySpark or Java."""

import os
import re
import subprocess
import sys

import inputs
import judging
import table_jobs

requirements = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "optional_requirements.txt")
judging.needed("pyspark", f"{sys.executable} -m pip install --requirement {requirements}")
from pyspark.sql import SparkSession, Window, functions as F


def need_java(least=17):
    java = f"{os.environ['JAVA_HOME']}/bin/java" if "JAVA_HOME" in os.environ else "java"
    try:
        told = subprocess.run([java, "-version"], stderr=subprocess.PIPE, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError) as error:
        judging.skip(f"Spark needs Java, and {error}; to install it: apt-get install default-jre-headless")
    version = re.search(r'version "(\d+)', told)
    if version and int(version[1]) < least:
        judging.skip(f"Spark needs Java {least} or newer, and there is {version[1]}")


class Spark:
    def __init__(self):
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "1g",
                    "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1"}
        builder = SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")

    def table(self, paths, names):
        return self.session.read.csv(paths, schema=", ".join(f"{name} string" for name in names), escape='"').fillna("")

    def read(self, folder, columns):
        names = [f"c{i}" for i in range(columns)]
        table = self.table(judging.part_files(folder), names)
        # It reads files in an order of its own.
        placed = table.select(F.input_file_name(), F.monotonically_increasing_id(), *names).collect()
        return [tuple(row)[2:] for row in sorted(placed, key=lambda row: row[:2])]

    def words(self, path):
        file = F.element_at(F.split(F.input_file_name(), "/"), -1)
        words = self.session.read.text(path).select(file.alias("file"),
                                                    F.explode(F.split("value", inputs.white_space)).alias("word"))
        return words.where("word <> ''")

    def count_words(self, path):
        return self.words(path).groupBy("word").count().collect()

    def top_words(self, path, most):
        return self.words(path).groupBy("word").count().orderBy(F.desc("count"), F.desc("word")).limit(most).collect()

    def index_words(self, folder):
        files = self.words(folder).groupBy("word").agg(F.sort_array(F.collect_set("file")).alias("files"))
        paths = F.array_join(F.transform("files", lambda file: F.concat(F.lit(f"{folder}/"), file)), " ")
        return files.select("word", F.size("files"), paths).orderBy("word").collect()

    def match(self, left, right, kind):
        tables = [self.table(path, ["k", "v"]) for path in (left, right)]
        return tables[0].join(tables[1], "k", f"left_{kind}").fillna("").collect()

    def rank(self, path):
        numbers = self.table(path, ["k", "v"]).withColumn("v", F.col("v").cast("long"))
        by_size = Window.partitionBy("k").orderBy(F.desc("v"))
        so_far = by_size.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        before = F.coalesce(F.lag("v").over(by_size).cast("string"), F.lit(""))
        return numbers.select("k", "v", F.row_number().over(by_size), F.rank().over(by_size), F.sum("v").over(so_far),
                              before).collect()

    def join(self, left, right, kind):
        tables = [self.table(path, ["k", value]) for path, value in ((left, "l"), (right, "r"))]
        return tables[0].join(tables[1], "k", kind).select("k", "l", "r").fillna("").collect()

    def query(self, tables, sql):
        for name, path in tables.items():
            self.session.read.csv(path, header=True, inferSchema=True).createOrReplaceTempView(name)
        return [tuple(row) for row in self.session.sql(sql).collect()]

    def q1(self, tables):
        return self.query(tables, inputs.q1)

    def q3(self, tables):
        return self.query(tables, inputs.q3)


def judge():
    engine = Spark()  # only now, since it takes relative paths from where it started
    table_jobs.judge_by(engine)
    engine.session.stop()


need_java()
judging.in_own_folder(judge)
