// Map/reduce jobs: functions that read records, say what becomes of them, and write the result.
//
//   void word_count(Job& job) {
//     job.read_text(job.param("input"))
//         .flat_map(words)
//         .map([](auto word) { return std::pair{word, std::int64_t{1}}; })
//         .reduce_by_key(std::plus<>{})
//         .write_csv(job.param("output"));
//   }
//   int main(int argc, char** argv) { return run_jobs(argc, argv, {{"word_count", word_count}}); }
//
// Operators: collection.h. The output depends on the input, the parameters and the sizes of splits and
// partitions: not on threads, memory limits of tables aside, timing or failures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/jobs/collection.h"
#include "actors/jobs/context/job_context.h"
#include "actors/jobs/context/job_options.h"
#include "actors/jobs/pipes/values_pipe.h"
#include "actors/jobs/run_job.h"
#include "actors/jobs/sources/sources.h"
#include "actors/jobs/windows.h"
#include "actors/jobs/words.h"
#include "schema/records/csv_field.h"
#include "schema/records/sums.h"

namespace actorflow {

class Runtime;

// Counts what functions of a job see; attempts of parts that do not count are not counted. May be copied
// into them.
class Counter {
 public:
  explicit Counter(std::size_t number) : number_(number) {}
  // Throws failed_precondition where no function of the job calls it.
  void add(std::int64_t by = 1) const {
    if (Part* const part = Part::current())
      part->count(number_, by);
    else
      JobContext::count_here(number_, by);
  }

 private:
  std::size_t number_;
};

// A job that runs: for one thread. Its collections may outlive it.
class Job {
 public:
  // In this process alone: with threads of its own, or those of a runtime. On several tasks: run_job.h.
  explicit Job(JobOptions options = {}, std::shared_ptr<Runtime> runtime = nullptr);
  // For run_job().
  Job(JobOptions options, std::unique_ptr<JobEngine> engine);

  // Throws invalid_argument if the parameter was not given. All parameters but "output" are asked for
  // before the job's first action (JobParameters).
  const std::string& param(const std::string& name) const;
  // The parameter as a number, a bool or a text, else what stands for it. Throws invalid_argument naming
  // it and its text if that is no T.
  template <class T>
  T param(const std::string& name, T otherwise) const;
  std::string param(const std::string& name, const char* otherwise) const {
    return param<std::string>(name, otherwise);
  }
  // The same for a number of things. Throws invalid_argument, too, if it is below 1.
  std::int64_t count_param(const std::string& name, std::int64_t otherwise) const;
  // The same for a rate of learning and the like. Throws invalid_argument, too, if it is below 0 or not
  // finite.
  double rate_param(const std::string& name, double otherwise) const;

  using Where = std::source_location;
  // Lines of the files (find_input() says what a pattern is).
  auto read_text(const std::string& pattern, Where where = Where::current()) const {
    return files(pattern, TextFormat(), "read_text", where);
  }
  // The same in pairs with the number of their file, its place in input_files(pattern).
  auto read_numbered_text(const std::string& pattern, Where where = Where::current()) const {
    return files(pattern, NumberedTextFormat(), "read_numbered_text", where);
  }
  // The same in pairs with the path of their file.
  auto read_named_text(const std::string& pattern, Where where = Where::current()) const {
    return files(pattern, NamedTextFormat(), "read_named_text", where);
  }
  // Rows: the columns are the fields of T. A row is a line, unless CsvInput::line_breaks: a line break
  // within quotes is refused. With a header all files are looked at now (csv_input.h).
  template <class T>
  auto read_csv(const std::string& pattern, const CsvInput& options = {},
                Where where = Where::current()) const {
    using Pipe = FilePipe<CsvFormat<T>>;
    const auto op = make_operator<T>("read_csv", where);
    const auto input = options.line_breaks ? find_whole_files(pattern) : find_files(pattern);
    auto headers = check_headers(input->files, options);
    return Collection<Pipe>(
        state_, Pipe{input, {options.delimiter, std::move(headers), op, options.line_breaks}, op});
  }
  // Structs of one size as they lie in memory.
  template <class T>
  auto read_records(const std::string& pattern, Where where = Where::current()) const {
    return files(pattern, FixedFormat<T>(), "read_records", where);
  }
  // Rows of NumPy's arrays (.npy): numbers, or std::arrays of them.
  template <class T>
  auto read_npy(const std::string& pattern, Where where = Where::current()) const {
    return files(pattern, NpyFormat<T>(), "read_npy", where);
  }
  // Rows of IDX files (.idx, MNIST's): uint8, or std::arrays of them.
  template <class T>
  auto read_idx(const std::string& pattern, Where where = Where::current()) const {
    return files(pattern, IdxFormat<T>(), "read_idx", where);
  }
  // The records of TFRecord files as bytes.
  auto read_tfrecords(const std::string& pattern, Where where = Where::current()) const {
    return files(pattern, TfRecordFormat(), "read_tfrecords", where);
  }
  // Rows of Parquet files: the columns of these names are the fields of T in their order; without names
  // the first columns of the first file (parquet_record.h says which T there is). Others are not read.
  // All files are looked at now, and one is an error whose columns are missing, or of types that T's
  // fields do not hold without loss. Throws unimplemented where the installation reads no Parquet.
  template <class T>
  auto read_parquet(const std::string& pattern, std::vector<std::string> columns = {},
                    Where where = Where::current()) const {
    using Pipe = ParquetPipe<T>;
    const auto op = make_operator<T>("read_parquet", where);
    const auto input = find_files(pattern);
    auto table = check_columns(input->files, std::move(columns), parquet_fields<T>());
    return Collection<Pipe>(state_, Pipe{{input, ParquetFormat<T>{std::move(table), op}, op}});
  }
  // Rows of tables: of Parquet files if their names end with .parquet, else of CSV files with a header.
  // The columns of these names are the fields of T in their order.
  template <class T>
  auto read_table(const std::string& pattern, const std::vector<std::string>& columns,
                  Where where = Where::current()) const {
    using Pipe = TablePipe<T>;
    const bool is_parquet = are_parquet(pattern);
    return Collection<Pipe>(
        state_, is_parquet
                    ? Pipe{read_parquet<T>(pattern, columns, where).pipe()}
                    : Pipe{read_csv<T>(pattern, {.header = true, .columns = columns}, where).pipe()});
  }
  // The paths of the files that a pattern stands for, in the order in which they are read.
  std::vector<std::string> input_files(const std::string& pattern) const;
  // Records of the program's own: the same on all tasks, and in the run that resumes the job; a
  // difference is refused.
  template <class T>
  auto from(std::vector<T> records, std::size_t parts = 1, Where where = Where::current()) const {
    using Pipe = ValuesPipe<T>;
    return Collection<Pipe>(state_,
                            Pipe{std::make_shared<const std::vector<T>>(std::move(records)),
                                 std::max<std::size_t>(parts, 1), make_operator<T>("from", where)});
  }
  // The same of elements that are copied, such as those of a tensor.
  template <class T>
  auto from(std::span<const T> records, std::size_t parts = 1, Where where = Where::current()) const {
    return from(std::vector<T>(records.begin(), records.end()), parts, where);
  }

  // The counter of this name; the same one at each call.
  Counter counter(const std::string& name) const { return Counter(state_->counter(name)); }
  std::map<std::string, std::int64_t> counters() const { return state_->counters(); }
  // The stages so far.
  const std::vector<PlanStage>& plan() const { return state_->stages(); }
  // Whether this task says what the job is: always, in a process that runs it alone. Functions of a job
  // run on all tasks; print only here.
  bool coordinates() const { return state_->engine().coordinates(); }
  // Whether other tasks take part.
  bool has_others() const { return state_->engine().has_others(); }
  // What the job runs on, in a simulation, too: for a server of the job's own,
  // Server::local(job.runtime()). Where that serves a dataset of the job it must end before the job.
  const std::shared_ptr<Runtime>& runtime() const { return state_->engine().runtime(); }
  // The job has ended well: nothing of its work folder is needed any more. Without this call it has not.
  // Not for jobs that run_job() or run_jobs() runs.
  void end() const { state_->engine().end(); }
  // The stage that runs fails as cancelled. Any thread.
  void stop() const { state_->engine().stop(); }
  const JobRef& state() const { return state_; }

 private:
  template <class Format>
  Collection<FilePipe<Format>> files(const std::string& pattern, Format format, const char* kind,
                                     const Where& where) const {
    using Pipe = FilePipe<Format>;
    const auto input = find_files(pattern);
    if constexpr (requires { Format::name; }) input->expect_headers(Format::name);
    return Collection<Pipe>(
        state_, Pipe{input, std::move(format), make_operator<typename Format::Record>(kind, where)});
  }
  std::shared_ptr<const InputFiles> find_files(const std::string& pattern) const;
  // Those that are not cut, whatever their names.
  std::shared_ptr<const InputFiles> find_whole_files(const std::string& pattern) const;
  // Throws invalid_argument if only some of them are.
  bool are_parquet(const std::string& pattern) const;
  std::shared_ptr<const CsvFiles> check_headers(std::span<const FileSize> files,
                                                const CsvInput& options) const;
  std::shared_ptr<const ParquetTable> check_columns(std::span<const FileSize> files,
                                                    std::vector<std::string> names,
                                                    std::vector<ParquetField> fields) const;
  [[noreturn]] static void throw_bad_parameter(const std::string& name, const std::string& expected,
                                               const std::string& text);

  JobRef state_;
};

template <class T>
T Job::param(const std::string& name, T otherwise) const {
  std::string instead;
  detail::append_csv_value(otherwise, instead);
  const std::string* text = state_->parameters().ask(name, std::move(instead));
  if (!text) return otherwise;
  T value{};
  if (!detail::parse_csv_value(*text, value)) throw_bad_parameter(name, record_layout<T>(), *text);
  return value;
}

// The main() of a program of jobs. Without a name on the command line the only job runs; --help says the
// flags, among them those for several machines, and the job's own parameters, for which it calls its
// function as far as the first result: nothing of the inputs is read. Returns 0; or, with one line on
// standard error, 1 for a failed job, 138 if a task is lost, 2 for bad arguments; 130 after Ctrl-C.
int run_jobs(int argc, const char* const* argv, const JobTable& jobs);

}  // namespace actorflow
