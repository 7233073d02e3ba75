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

    def join(self, left, right, kind):
        table = lambda path: f"""read_csv('{path}', header=false, auto_detect=false, delim=',', quote='"', escape='"',
                                          columns={{'k': 'varchar', 'v': 'varchar'}})"""
        word = {"inner": "join", "left": "left join", "outer": "full join"}[kind]
        return duckdb.sql(f"""select coalesce(l.k, r.k), coalesce(l.v, ''), coalesce(r.v, '')
                              from {table(left)} l {word} {table(right)} r on l.k = r.k""").fetchall()


judging.in_own_folder(lambda: table_jobs.judge_by(DuckDb()))
