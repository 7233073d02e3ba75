"""Polars judges the map/reduce programs: by_polars.py FOLDER_OF_PROGRAMS TEXT."""

import datetime
import glob

import polars as pl

import inputs
import judging
import table_jobs


class Polars:
    def table(self, path, names):
        return pl.read_csv(path, has_header=False, new_columns=names, schema=dict.fromkeys(names, pl.String),
                           empty_string_is_null=False, raise_if_empty=False)

    def read(self, folder, columns):
        names = [f"c{i}" for i in range(columns)]
        return pl.concat([self.table(file, names) for file in judging.part_files(folder)]).rows()

    def words(self, path):
        text = pl.DataFrame({"text": [open(path, newline="").read()]})
        return text.select(word=pl.col("text").str.extract_all(inputs.no_white_space).explode())

    def count_words(self, path):
        return self.words(path).group_by("word").len().rows()

    def top_words(self, path, most):
        return self.words(path).group_by("word").len().sort("len", "word", descending=True).head(most).rows()

    def index_words(self, folder):
        found = pl.concat([self.words(file).with_columns(file=pl.lit(file)) for file in glob.glob(f"{folder}/*")])
        files = found.unique().sort("word", "file").group_by("word", maintain_order=True)
        return files.agg(pl.len(), pl.col("file").str.join(" ")).rows()

    def match(self, left, right, kind):
        tables = [self.table(path, ["k", "v"]) for path in (left, right)]
        return tables[0].join(tables[1], on="k", how=kind).fill_null("").rows()

    def rank(self, path):
        numbers = self.table(path, ["k", "v"]).with_columns(pl.col("v").cast(pl.Int64))
        v = pl.col("v")
        return numbers.sort("k", "v", descending=[False, True]).select(
            "k", "v", place=pl.int_range(1, pl.len() + 1).over("k"), rank=v.rank("min", descending=True).over("k"),
            sum=v.cum_sum().over("k"), before=v.shift(1).over("k").cast(pl.String).fill_null("")).rows()

    def join(self, left, right, kind):
        tables = [self.table(path, ["k", value]) for path, value in ((left, "l"), (right, "r"))]
        how = {"inner": "inner", "left": "left", "outer": "full"}[kind]
        return tables[0].join(tables[1], on="k", how=how, coalesce=True).select("k", "l", "r").fill_null("").rows()

    # In cents and hundredths, as integers: exact.
    def line_items(self, tables):
        hundredths = lambda name: (pl.col(name) * 100).round().cast(pl.Int64)
        items = pl.read_csv(tables["lineitem"], try_parse_dates=True)
        items = items.with_columns(price=hundredths("l_extendedprice"), discount=hundredths("l_discount"),
                                   tax=hundredths("l_tax"))
        return items.with_columns(revenue=pl.col("price") * (100 - pl.col("discount")))

    def q1(self, tables):
        items = self.line_items(tables).filter(pl.col("l_shipdate") <= datetime.date(1998, 9, 2))
        charge = pl.col("revenue") * (100 + pl.col("tax"))
        return items.group_by("l_returnflag", "l_linestatus").agg(
            pl.col("l_quantity").sum(), price=pl.col("price").sum() / 100, revenue=pl.col("revenue").sum() / 10**4,
            charge=charge.sum() / 10**6, mean_quantity=pl.col("l_quantity").mean(),
            mean_price=pl.col("price").mean() / 100, mean_discount=pl.col("discount").mean() / 100,
            rows=pl.len()).sort("l_returnflag", "l_linestatus").rows()

    def q3(self, tables):
        day = datetime.date(1995, 3, 15)
        customers = pl.read_csv(tables["customer"]).filter(pl.col("c_mktsegment") == "BUILDING")
        orders = pl.read_csv(tables["orders"], try_parse_dates=True).filter(pl.col("o_orderdate") < day)
        items = self.line_items(tables).filter(pl.col("l_shipdate") > day)
        found = orders.join(customers, left_on="o_custkey", right_on="c_custkey", how="semi")
        found = found.join(items, left_on="o_orderkey", right_on="l_orderkey")
        sums = found.group_by("o_orderkey", "o_orderdate", "o_shippriority").agg(pl.col("revenue").sum() / 10**4)
        best = sums.sort("revenue", "o_orderdate", descending=[True, False]).head(10)
        return best.select("o_orderkey", "revenue", "o_orderdate", "o_shippriority").rows()


judging.in_own_folder(lambda: table_jobs.judge_by(Polars()))
