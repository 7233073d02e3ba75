// Collections as files: one per part, named part-00000-of-00016.csv, or .csv.gz.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "schema/formats/byte_sink.h"
#include "schema/records/csv_record.h"
#include "schema/records/record_codec.h"

namespace actorflow {

struct FileOutput {
  std::optional<Compression> compression = {};  // else as JobOptions::compression says
};

struct CsvOutput {
  char delimiter = ',';
  std::optional<Compression> compression = {};
};

// Formats: each has the end of the files' names, and writes a record as bytes.
struct CsvRows {
  static constexpr const char* extension = ".csv";
  char delimiter = ',';

  template <class T>
  void append(const T& record, std::string& bytes) const {
    append_csv(record, bytes, delimiter);
    bytes += '\n';
  }
};

namespace detail {
[[noreturn, gnu::cold]] void throw_line_break(std::string_view text);
}  // namespace detail

struct TextLines {
  static constexpr const char* extension = ".txt";

  // Throws for a text of several lines: it would be read as several records.
  void append(std::string_view line, std::string& bytes) const {
    if (line.find('\n') != line.npos) detail::throw_line_break(line);
    bytes += line;
    bytes += '\n';
  }
};

struct RecordBytes {
  static constexpr const char* extension = ".bin";

  template <class T>
  void append(const T& record, std::string& bytes) const {
    static_assert(
        is_flat_record<T>,
        "write_records() takes structs whose bytes are their encoding: numbers and std::arrays of them, "
        "without padding");
    bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
  }
};

std::string part_name(std::size_t part, std::size_t parts, const char* extension);

// The bytes of a part's file, compressed where that is wanted. Its size and checksum are those of what
// lies on disk.
class PartFile {
 public:
  // The name gets the extension of the compression.
  PartFile(Part& part, const std::string& folder, std::string name, Compression compression);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(std::span<const char> bytes, std::uint64_t records);
  void finish();

 private:
  class OnDisk;

  Part& part_;
  FileMade made_;
  SinkRef sink_;
};

template <class T, class Format>
class FileSink {
 public:
  FileSink(Part& part, const std::string& folder, std::size_t parts, Format format,
           Compression compression)
      : part_(part),
        file_(part, folder, part_name(part.index(), parts, Format::extension), compression),
        format_(format) {}

  void operator()(const T& record) {
    format_.append(record, buffer_);
    ++records_;
    if (buffer_.size() >= buffer_bytes) flush();
  }
  void finish() {
    flush();
    file_.finish();
  }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

  void flush() {
    file_.write(buffer_, records_);
    part_.count_records(records_);
    buffer_.clear();
    records_ = 0;
  }

  Part& part_;
  PartFile file_;
  Format format_;
  std::string buffer_;
  std::uint64_t records_ = 0;
};

// Call before the job computes anything: throws invalid_argument if the parameter "output" was given and
// is a file, permission_denied if this process, being the first task, may not write there.
void expect_output(JobContext& job);
// Before a stage writes there: an empty folder is as good as none. Throws invalid_argument for a file,
// and already_exists for a folder that is not empty, unless JobOptions::overwrite, which removes the
// files of an earlier job and nothing else: not those that this job reads or has written, which is
// invalid_argument. Of a job that goes on, the files that count stay.
void prepare_output(JobContext& job, const std::string& folder);
// Afterwards: removes what attempts that were lost have left, and writes _SUCCESS, with the files'
// records, bytes and checksums, and the job's counters.
void finish_output(JobContext& job, const std::string& folder, const std::vector<PartOutcome>& outcomes);

}  // namespace actorflow
