"""Inputs of the judges, written into the current folder."""

import csv
import os
import random
import subprocess
import sys

from judging import text

# What separates words, as a pattern that Java, RE2 and Rust read alike; \v and \s are not.
white_space = r"[ \t\n\x0B\f\r]+"
no_white_space = r"[^ \t\n\x0B\f\r]+"


def odd_text():
    """Words that CSV has to quote, that look like numbers or nothing, or that only Unicode takes for two; and no line
    break at the end."""
    words = ['"', '""', ",", "a,b", '"a"', "it's", '"a,"b', "\\", '\\"', "\\N", "NULL", "null", "nan", "1", "01", "1.0",
             "#", "-", "'", "é", "e\u0301", "日本", "a\u00a0b", "a\u2003b", "\U0001f600", "long" * 20000]
    draw = random.Random(1)
    with open("odd.txt", "w", newline="") as file:
        for _ in range(3000):
            file.write(draw.choice(words[:-1]) + draw.choice([" ", "\t", "\n", "\v", "\f", "\r", "\r\n", " \n\n "]))
        file.write(" ".join(words))
    return "odd.txt"


def books():
    """A folder of one file that is cut into parts, and many that are smaller than a part."""
    os.mkdir("books")
    lines = open(text).readlines()
    most = len(lines) // 2
    open("books/25.txt", "w").writelines(lines[:most])
    for i in set(range(50)) - {25}:
        open(f"books/{i:02}.txt", "w").writelines(lines[most + i::50])
    os.rename(odd_text(), "books/odd.txt")
    return "books"


def tables_to_join():
    """Rows "key,value" of two sides, on each of which one key has a third of the rows; values with quotes and without
    text. Some keys are on one side only."""
    draw = random.Random(1)
    for side, count, hot in ("left", 3000, 401), ("right", 2000, 7):
        with open(f"{side}.csv", "w", newline="") as file:
            keys = (hot if draw.random() < 0.3 else draw.randrange(400) for _ in range(count))
            values = (draw.choice([f'{side},"{i}"', f"{i} é", ""]) for i in range(count))
            csv.writer(file).writerows((f"k{key}", value) for key, value in zip(keys, values))
    return "left.csv", "right.csv"


def numbers_by_key():
    """Rows "key,number": 200 keys, one of them with a third of the rows; numbers repeat within a key."""
    draw = random.Random(2)
    with open("numbers.csv", "w", newline="") as file:
        keys = ("hot é" if draw.random() < 0.3 else f"k/{draw.randrange(200)}" for _ in range(6000))
        csv.writer(file).writerows((key, draw.randrange(-50, 50) * 10**12) for key in keys)
    return "numbers.csv"


def tpch():
    """The tables of TPC-H at a hundredth of its scale, by name."""
    subprocess.run([f"{os.path.dirname(sys.executable)}/tpchgen-cli", "csv", "-s", "0.01", "--output-dir", "tpch"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {name: f"tpch/{name}.csv" for name in ("customer", "orders", "lineitem")}


q1 = """select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
               sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
               avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
        from lineitem where l_shipdate <= date '1998-09-02'
        group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus"""

q3 = """select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate, o_shippriority
        from customer, orders, lineitem
        where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
          and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
        group by l_orderkey, o_orderdate, o_shippriority order by revenue desc, o_orderdate limit 10"""
