"""DuckDB judges the map/reduce programs: by_duckdb.py FOLDER_OF_PROGRAMS TEXT."""

import duckdb

import duckdb_queries
import inputs
import judging
import table_jobs


class DuckDb(duckdb_queries.DuckDbQueries):
    def read(self, folder, columns):
        named = ", ".join(f"'c{i}': 'varchar'" for i in range(columns))
        filled = ", ".join(f"coalesce(c{i}, '')" for i in range(columns))
        return duckdb.sql(f"""select {filled} from read_csv({judging.part_files(folder)}, header=false, delim=',',
                              quote='"', escape='"', columns={{{named}}}, auto_detect=false)""").fetchall()

    def words(self, pattern):
        return f"""(select filename as file, unnest(string_split_regex(content, '{inputs.white_space}')) as word
                    from read_text('{pattern}'))"""

    def count_words(self, path):
        return duckdb.sql(f"select word, count(*) from {self.words(path)} where word <> '' group by word").fetchall()

    def top_words(self, path, most):
        return duckdb.sql(f"""select word, count(*) as n from {self.words(path)} where word <> ''
                              group by word order by n desc, word desc limit {most}""").fetchall()

    def index_words(self, folder):
        return duckdb.sql(f"""select word, count(*), string_agg(file, ' ' order by file)
                              from (select distinct word, file from {self.words(folder + "/*")} where word <> '')
                              group by word order by word""").fetchall()

    def table(self, path, value="varchar"):
        return f"""read_csv('{path}', header=false, auto_detect=false, delim=',', quote='"', escape='"',
                            columns={{'k': 'varchar', 'v': '{value}'}})"""

    def match(self, left, right, kind):
        return duckdb.sql(f"""select l.k, coalesce(l.v, '')
                              from {self.table(left)} l {kind} join {self.table(right)} r on l.k = r.k""").fetchall()

    def rank(self, path):
        return duckdb.sql(f"""select k, v, row_number() over w, rank() over (partition by k order by v desc),
                                     sum(v) over (w rows unbounded preceding), coalesce(lag(v) over w :: varchar, '')
                              from {self.table(path, "bigint")}
                              window w as (partition by k order by v desc)""").fetchall()

    def join(self, left, right, kind):
        table = self.table
        word = {"inner": "join", "left": "left join", "outer": "full join"}[kind]
        return duckdb.sql(f"""select coalesce(l.k, r.k), coalesce(l.v, ''), coalesce(r.v, '')
                              from {table(left)} l {word} {table(right)} r on l.k = r.k""").fetchall()


def judge_folders_of_keys():
    """DuckDB reads the keys of a divided output from the names of its folders."""
    path = inputs.numbers_by_key()
    judging.run("ranked", "--input", path, "--output", "divided", "--divide_by", "key", "--k", 10**6)
    ours = duckdb.sql("""select key, c0, c1, c2, c3, coalesce(c4, '')
                         from read_csv('divided/*/*.csv', hive_partitioning=true, hive_types={'key': 'varchar'},
                                       header=false, auto_detect=false, delim=',', quote='"',
                                       columns={'c0': 'varchar', 'c1': 'bigint', 'c2': 'bigint', 'c3': 'varchar',
                                                'c4': 'varchar'})""").fetchall()
    texts = lambda rows: sorted(tuple(map(str, row)) for row in rows)
    judging.check_same(texts(ours), texts(DuckDb().rank(path)), "rows in folders of keys")


judging.in_own_folder(lambda: table_jobs.judge_by(DuckDb()), judge_folders_of_keys)
