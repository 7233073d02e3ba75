"""Jobs that engines of tables judge, all on the same inputs. An engine is an object with these functions:

  read(folder, columns)       our files of CSV by the engine's own reader: rows of text, in their order
  count_words(path)           (word, count)
  top_words(path, most)       (word, count) of the most frequent; of equal ones the last words first
  index_words(folder)         (word, number of files, their paths with spaces between), by word
  join(left, right, kind)     (key, value of the left, value of the right); "" in the place of a missing value
  match(left, right, kind)    (key, value of the left) of its rows whose key the right has ("semi") or not ("anti")
  rank(path)                  (key, number, place, rank, sum so far, number before or ""), from the largest on
  q1(tables), q3(tables)      the rows of these queries; tables are files by name
"""

import math
import os

import inputs
import judging


def close_rows(expected, what, read, texts):
    """The verdict for rows of `texts` columns of text and then numbers, which may differ in the 10th digit."""
    def verdict(folder):
        ours = read(folder, len(expected[0]))
        judging.check_same([row[:texts] for row in ours], [tuple(map(str, row[:texts])) for row in expected], what)
        for row, wanted in zip(ours, expected):
            numbers = [(float(a), float(b)) for a, b in zip(row[texts:], wanted[texts:])]
            judging.expect(len(row) == len(wanted) and all(math.isclose(a, b, rel_tol=1e-9) for a, b in numbers),
                           f"{what}: {row}, expected {wanted}")
    return verdict


def judge_words(engine):
    for path, files in (judging.text, 4), (inputs.odd_text(), 1):
        name = os.path.basename(path).removesuffix(".txt")
        same = judging.same_rows(engine.count_words(path), "the counts", engine.read)
        judging.judge(same, "word_count", "--input", path, folder=f"word_count.{name}", least_files=files)
        same = judging.same_rows(engine.top_words(path, 15), "the best", engine.read, in_order=True)
        judging.judge(same, "top_k", "--input", path, "--k", 15, folder=f"top_k.{name}", in_order=True)


def judge_index(engine):
    folder = inputs.books()
    same = judging.same_rows(engine.index_words(folder), "the index", engine.read, in_order=True)
    judging.judge(same, "inverted_index", "--input", folder, folder="inverted_index", in_order=True, least_files=4)


def judge_joins(engine):
    left, right = inputs.tables_to_join()
    for kind in "inner", "left", "outer":
        same = judging.same_rows(engine.join(left, right, kind), f"{kind} join", engine.read)
        judging.judge(same, "join", "--left", left, "--right", right, "--kind", kind, folder=f"join.{kind}")


def judge_matches(engine):
    left, right = inputs.tables_to_join()
    for kind in "semi", "anti":
        same = judging.same_rows(engine.match(left, right, kind), f"{kind} join", engine.read)
        judging.judge(same, "join", "--left", left, "--right", right, "--kind", kind, folder=f"join.{kind}")


def judge_ranks(engine):
    path = inputs.numbers_by_key()
    ranked = engine.rank(path)
    judging.judge(judging.same_rows(ranked, "the ranks", engine.read), "ranked", "--input", path, "--k", len(ranked),
                  folder="ranked")
    best = [row for row in ranked if row[2] <= 3]
    same = judging.same_rows(best, "the best of each key", engine.read)
    judging.judge(same, "ranked", "--input", path, "--k", 3, folder="ranked.best")


def judge_queries(engine, tables=None, read_by_jobs=None, folder="sql"):
    """The jobs may read the tables from other files."""
    tables = tables or inputs.tpch()
    files = read_by_jobs or tables
    close = close_rows(engine.q1(tables), "the report of prices", engine.read, texts=2)
    judging.judge(close, "sql", "q1", "--lineitem", files["lineitem"], folder=f"{folder}_q1", in_order=True)
    flags = [x for name, path in files.items() for x in (f"--{name}", path)]
    # Key and revenue as numbers, day and priority as text: the order of the columns is another one there.
    turned = lambda rows: [(str(day), str(priority), key, revenue) for key, revenue, day, priority in rows]
    read = lambda folder, columns: turned(engine.read(folder, columns))
    judging.judge(close_rows(turned(engine.q3(tables)), "the orders", read, texts=2), "sql", "q3", *flags,
                  folder=f"{folder}_q3", in_order=True)


def judge_by(engine):
    for part in judge_words, judge_index, judge_joins, judge_matches, judge_ranks, judge_queries:
        part(engine)
