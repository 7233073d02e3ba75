// Files as records: one loop per format.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "actors/input/file_source.h"
#include "actors/jobs/context/job_context.h"
#include "actors/jobs/parquet/parquet_format.h"
#include "actors/jobs/sources/csv_input.h"
#include "actors/jobs/sources/input_files.h"
#include "schema/formats/array_header.h"
#include "schema/formats/byte_source.h"
#include "schema/formats/line_blocks.h"
#include "schema/formats/record_blocks.h"
#include "schema/formats/tfrecord_file.h"
#include "schema/records/csv_field.h"
#include "schema/records/csv_record.h"
#include "schema/records/record_codec.h"

namespace actorflow {

// A split that is being read.
struct OpenSplit {
  Part& part;
  const FileSize& file;  // as it was when the job began
  const Split& split;
  std::uint64_t place = 0;  // of the split's begin in the part

  // Throws data_loss if the file has become smaller.
  SourceRef open() const {
    SourceRef bytes = open_data_file(part.storage(), file.path, Compression::none);
    expect_not_cut(file, bytes->most_bytes_left());
    return decompressed(std::move(bytes), compression_of(file.path));
  }
  // The source has passed `bytes` with so many records, up to the file's `offset`.
  void passed(std::uint64_t offset, std::size_t bytes, std::uint64_t records) const {
    part.has_read(bytes, records);
    part.set_place(place + (std::max(offset, split.begin) - split.begin));
  }
  [[noreturn]] void fail(const OperatorFailure& failure, std::uint64_t offset,
                         std::string_view record) const {
    throw at_record(failure, "file '" + file.path + "' at byte " + std::to_string(offset), record);
  }
};

// Lines without their ends ("\n" or "\r\n").
struct TextFormat {
  using Record = std::string_view;

  template <class Next>
  void read(const OpenSplit& from, Next& next) const {
    LineBlocks blocks(from.open(), from.split, limits_of(from.part));
    std::string_view line, text;
    try {
      while (!(text = blocks.next()).empty()) {
        std::uint64_t lines = 0;
        from.passed(blocks.offset(), 0, 0);
        for_each_line(text, [&](std::string_view each) {
          line = each;
          ++lines;
          from.part.feed([&] { next(std::string_view(each)); });
        });
        from.passed(blocks.offset(), text.size(), lines);
      }
    } catch (const OperatorFailure& failure) {
      from.fail(failure, blocks.offset() + static_cast<std::uint64_t>(line.data() - text.data()), line);
    }
  }

  static LineLimits limits_of(const Part& part) {
    LineLimits limits;
    if (part.most_record_bytes() >= limits.max_line_bytes) return limits;
    limits.max_line_bytes = part.most_record_bytes();
    limits.advice = "is it a text file? Then give more --memory";
    return limits;
  }
};

// Lines with the path of their file.
struct NamedTextFormat {
  using Record = std::pair<std::string_view, std::string_view>;

  template <class Next>
  void read(const OpenSplit& from, Next& next) const {
    const std::string_view path = from.file.path;
    auto named = [&](std::string_view line) { next(Record(path, line)); };
    TextFormat().read(from, named);
  }
};

// Lines with the number of their file.
struct NumberedTextFormat {
  using Record = std::pair<std::uint32_t, std::string_view>;

  template <class Next>
  void read(const OpenSplit& from, Next& next) const {
    const auto file = static_cast<std::uint32_t>(from.split.file);
    auto numbered = [&](std::string_view line) { next(Record(file, line)); };
    TextFormat().read(from, numbered);
  }
};

// Calls next(row) for each row of CSV with line breaks within quotes, of a file that is not cut. Throws
// invalid_argument if its last quote is not closed.
void read_csv_rows(const OpenSplit& from, const std::function<void(std::string_view row)>& next);

// Rows of CSV as records.
template <class T>
struct CsvFormat {
  using Record = T;
  char delimiter = ',';
  std::shared_ptr<const CsvFiles> headers;  // empty: there are none
  OperatorRef op;
  bool line_breaks = false;

  template <class Next>
  void read(const OpenSplit& from, Next& next) const {
    CsvSplitter splitter(delimiter);
    const bool has_header = !headers->empty();
    const CsvFile file = has_header ? (*headers)[from.split.file] : CsvFile();
    std::vector<std::string_view> chosen;
    bool is_first = from.split.begin == 0;
    auto parsed = [&](std::string_view line) {
      if (std::exchange(is_first, false)) {
        if (has_header) return;
        line = without_byte_order_mark(line);
      }
      if (line.empty()) return;
      next(call_user(*op,
                     [&] { return parse_csv<T>(choose_columns(file, splitter.split(line), chosen)); }));
    };
    if (line_breaks) return read_csv_rows(from, parsed);
    TextFormat().read(from, parsed);
  }
};

// A sink that keeps records as they lie in memory: they need not come one by one.
template <class Next>
concept BlockSink = requires(Next& next, std::span<const std::byte> records) {
  next.takes_blocks();
  next.take_block(records);
};

// Records of one size, as they lie in memory.
template <class T>
struct FixedFormat {
  static_assert(is_flat_record<T>,
                "read_records(), read_npy() and read_idx() take numbers, and structs and std::arrays of "
                "them without padding");
  using Record = T;

  template <class Next>
  void read(const OpenSplit& from, Next& next) const {
    read(from, FixedRecords{.record_bytes = sizeof(T)}, next);
  }

  template <class Next>
  static void read(const OpenSplit& from, const FixedRecords& records, Next& next) {
    RecordBlocks blocks(from.open(), records, from.split);
    for (auto block = blocks.next(); !block.empty(); block = blocks.next()) {
      from.passed(blocks.offset(), 0, 0);
      pass_on(from, block, blocks.offset(), next);
      from.passed(blocks.offset(), block.size(), block.size() / sizeof(T));
    }
  }

 private:
  template <class Next>
  static void pass_on(const OpenSplit& from, std::span<const std::byte> block, std::uint64_t offset,
                      Next& next) {
    const std::uint64_t records = block.size() / sizeof(T);
    if constexpr (BlockSink<Next>)
      if (next.takes_blocks() && from.part.feed_block(records, [&] { next.take_block(block); })) return;
    const std::uint64_t first = from.part.record();
    try {
      const auto take = [at = block.data()](std::uint64_t i) {
        T record;
        std::memcpy(&record, at + i * sizeof(T), sizeof(T));
        return record;
      };
      from.part.feed(records, take, next);
    } catch (const OperatorFailure& failure) {
      const std::uint64_t at = (from.part.record() - first) * sizeof(T);
      from.fail(failure, offset + at,
                std::string_view(reinterpret_cast<const char*>(block.data()) + at, sizeof(T)));
    }
  }
};

// Rows of files of one array: those of one dimension are numbers, others std::arrays.
template <class T, ArrayHeader (*read_header)(ByteSource&)>
struct ArrayFormat {
  using Record = T;
  static constexpr const char* name = "a file of an array";  // which begins with a header

  template <class Next>
  void read(const OpenSplit& from, Next& next) const {
    const ArrayHeader header = read_header(*from.open());
    if (header.row_bytes != sizeof(T) || !record_layout<T>().ends_with(layout_end(header)))
      throw invalid_argument("'" + from.file.path + "' has rows of " + std::to_string(header.row_bytes) +
                             " bytes, of " + header.element + "; the job reads " + record_layout<T>());
    FixedFormat<T>::read(from, row_records(header), next);
  }

 private:
  // Of "array<float64,20>" what follows the type of the elements is left open.
  static std::string layout_end(const ArrayHeader& header) {
    return record_layout<T>() == header.element ? header.element
                                                : header.element + "," + elements_of(record_layout<T>());
  }
  static std::string elements_of(const std::string& layout) {
    return layout.substr(layout.find_last_of(',') + 1);
  }
};
template <class T>
using NpyFormat = ArrayFormat<T, read_npy_header>;
template <class T>
using IdxFormat = ArrayFormat<T, read_idx_header>;

// Records of TFRecord files, which are not cut.
struct TfRecordFormat {
  using Record = std::string_view;

  template <class Next>
  void read(const OpenSplit& from, Next& next) const {
    TfRecordFile file(from.open());
    std::string_view record;
    try {
      while (const auto bytes = file.next()) {
        record = {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
        from.part.expect_room_for(record.size());
        from.part.feed([&] { next(std::string_view(record)); });
        from.passed(file.offset(), record.size(), 1);
      }
    } catch (const OperatorFailure& failure) {
      from.fail(failure, file.offset(), record);
    }
  }
};

template <class Format>
struct FilePipe {
  using Record = typename Format::Record;
  static constexpr bool is_cheap = true;

  std::shared_ptr<const InputFiles> input;
  Format format;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    read(part, input->parts[index], input->parts[index], next);
  }
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    const auto& splits = input->parts[index];
    const auto pieces = pieces_of(*input, splits);
    read(part, splits, pieces, next);
    return static_cast<double>(input->size(splits)) / static_cast<double>(input->size(pieces));
  }
  SourceFacts facts() const {
    return {[] {},
            [i = input] { return i->parts.size(); },
            [i = input] { return i->bytes; },
            {},
            [i = input] { return i->describe(); },
            [i = input](Storage& storage) { return i->describe_times(storage); },
            {},
            [i = input](std::size_t part) { return i->size(i->parts[part]); }};
  }
  void describe(PlanStage& plan) const {
    plan.operators.push_back(*op);
    plan.parts += input->parts.size();
    plan.input_bytes += input->bytes;
  }

 private:
  // `pieces` of the splits, in their order.
  template <class Next>
  void read(Part& part, const std::vector<Split>& splits, const std::vector<Split>& pieces,
            Next& next) const {
    std::uint64_t place = 0;
    std::size_t at = 0;
    for (const auto& piece : pieces) {
      while (piece.file != splits[at].file || piece.begin >= splits[at].end) {
        place += input->size(splits[at]);
        ++at;
      }
      format.read(
          OpenSplit{part, input->files[piece.file], piece, place + (piece.begin - splits[at].begin)},
          next);
    }
  }
};

template <class T>
struct ParquetPipe : FilePipe<ParquetFormat<T>> {
  // No record begins at just any byte: whole splits are read, and rows of them passed over.
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    ParquetSample sample;
    FilePipe<ParquetFormat<T>> sampled(*this);
    sampled.format.sample = &sample;
    sampled.run(part, index, next);
    return sample.read == 0 ? 1 : static_cast<double>(sample.rows) / static_cast<double>(sample.read);
  }
};

// Files of rows with named columns, of either format.
template <class T>
struct TablePipe {
  using Record = T;
  static constexpr bool is_cheap = true;

  std::variant<FilePipe<CsvFormat<T>>, ParquetPipe<T>> files;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    std::visit([&](const auto& pipe) { pipe.run(part, index, next); }, files);
  }
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    return std::visit([&](const auto& pipe) { return pipe.sample(part, index, next); }, files);
  }
  SourceFacts facts() const {
    return std::visit([](const auto& pipe) { return pipe.facts(); }, files);
  }
  void describe(PlanStage& plan) const {
    std::visit([&plan](const auto& pipe) { pipe.describe(plan); }, files);
  }
};

}  // namespace actorflow
