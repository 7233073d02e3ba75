// Records as a Parquet file of a part.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/outputs/outputs.h"
#include "schema/parquet/parquet_rows.h"
#include "schema/parquet/parquet_writer.h"

namespace actorflow {

struct ParquetOutput {
  std::vector<std::string> columns = {};  // their names; none: "column_1", "column_2", ...
  ParquetCodec codec = ParquetCodec::zstd;
};

// The names of the columns for `fields` fields. Throws invalid_argument for another number of names, and
// for a name that is there twice. Throws unimplemented, saying how to get it, where there is no Arrow.
std::vector<std::string> parquet_names(std::vector<std::string> names, std::size_t fields);

// A page of a Parquet file has 2 GiB at most, and a text lies in one page.
inline constexpr std::size_t most_parquet_text = std::size_t{1} << 30;
// Throws invalid_argument for a longer one, naming the column, before Arrow would count its bytes in 32
// bits.
void expect_parquet_texts(std::span<const ParquetValues> values, std::size_t rows,
                          std::span<const std::string> names);

template <class T>
class ParquetSink {
 public:
  ParquetSink(Part& part, const std::string& folder, std::size_t parts,
              const std::vector<std::string>& names, ParquetCodec codec)
      : part_(part),
        names_(names),
        file_(part, folder, part_name(part.index(), parts, ".parquet"), Compression::none),
        writer_(create_parquet(
            {part_name(part.index(), parts, ".parquet"), names, parquet_fields<T>(), codec,
             [this](std::span<const std::byte> bytes) {
               file_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0);
             }})) {}

  void operator()(const T& record) {
    rows_.append(record);
    if (rows_.rows() == most_rows || rows_.bytes() >= most_bytes) flush();
  }
  void finish() {
    if (rows_.rows() > 0) flush();
    writer_->finish();
    file_.finish();
  }

 private:
  // The limits of a row group, which lies in memory until it is written. They do not depend on the
  // memory, so the file depends on the records alone.
  static constexpr std::size_t most_rows = std::size_t{1} << 20, most_bytes = std::size_t{8} << 20;

  void flush() {
    part_.expect_wanted();
    const auto values = rows_.values();
    expect_parquet_texts(values, rows_.rows(), names_);
    writer_->write(values, rows_.rows());
    file_.write({}, rows_.rows());
    part_.count_records(rows_.rows());
    rows_.clear();
  }

  Part& part_;
  const std::vector<std::string> names_;
  PartFile file_;
  ParquetRowBuffer<T> rows_;
  std::unique_ptr<ParquetWriter> writer_;
};

}  // namespace actorflow
