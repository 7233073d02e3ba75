// The module: Parquet files by Apache Arrow.
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "dataflow/values/error.h"
#include "schema/parquet/arrow/arrow_bytes.h"
#include "schema/parquet/arrow/arrow_columns.h"
#include "schema/parquet/arrow/arrow_writer.h"
#include "schema/parquet/arrow/guarded.h"
#include "schema/parquet/arrow/limited_pool.h"
#include "schema/parquet/parquet_module.h"

namespace actorflow {
namespace {

constexpr std::int64_t buffer_bytes = std::int64_t{256} << 10;
// The end of a file whose footer is encrypted.
constexpr std::string_view encrypted_magic = "PARE";

// Reads column chunks while they are decoded, not as a whole before.
parquet::ReaderProperties properties(arrow::MemoryPool& pool) {
  parquet::ReaderProperties properties(&pool);
  properties.enable_buffered_stream();
  properties.set_buffer_size(buffer_bytes);
  properties.set_page_checksum_verification(true);
  return properties;
}

class ArrowRows final : public ParquetRows {
 public:
  ArrowRows(std::shared_ptr<ArrowBytes> bytes, std::string place, parquet::RowGroupReader& group,
            std::span<const ParquetWanted> wanted)
      : bytes_(std::move(bytes)),
        place_(std::move(place)),
        left_(static_cast<std::uint64_t>(group.metadata()->num_rows())) {
    for (const auto& want : wanted) {
      const int number = static_cast<int>(want.column);
      columns_.push_back(make_column(group.Column(number), want.form));
      file_bytes_ +=
          static_cast<std::uint64_t>(group.metadata()->ColumnChunk(number)->total_compressed_size());
    }
    values_.resize(columns_.size());
  }

  std::size_t next(std::size_t most) override {
    return guarded(*bytes_, place_, [&] { return next_rows(most); });
  }
  std::span<const ParquetValues> values() const override { return values_; }
  void skip(std::uint64_t rows) override {
    guarded(*bytes_, place_, [&] { skip_rows(std::min(rows, left_)); });
  }
  std::uint64_t file_bytes() const override { return file_bytes_; }

 private:
  // Pages of different columns have different numbers of rows: returns the rows that all columns have
  // decoded.
  std::size_t next_rows(std::size_t most) {
    for (const auto& column : columns_) column->pass(shown_);
    auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(most, left_));
    if (rows > 0)
      for (const auto& column : columns_) rows = std::min(rows, column->available());
    if (rows == 0 && left_ > 0 && most > 0) throw Error(Code::data_loss, ended_early());
    for (std::size_t i = 0; i < columns_.size(); ++i) values_[i] = columns_[i]->values();
    shown_ = rows;
    left_ -= rows;
    return rows;
  }
  void skip_rows(std::uint64_t rows) {
    for (const auto& column : columns_) {
      column->pass(shown_);
      if (column->skip(rows) != rows) throw Error(Code::data_loss, ended_early());
    }
    shown_ = 0;
    left_ -= rows;
  }
  std::string ended_early() const {
    return "a column ends " + std::to_string(left_) + " rows before its row group";
  }

  const std::shared_ptr<ArrowBytes> bytes_;
  const std::string place_;
  std::vector<std::unique_ptr<ArrowColumn>> columns_;
  std::vector<ParquetValues> values_;
  std::uint64_t left_;  // behind those that are shown
  std::size_t shown_ = 0;
  std::uint64_t file_bytes_ = 0;
};

class ArrowFile final : public ParquetFile {
 public:
  explicit ArrowFile(const ParquetBytes& bytes)
      : bytes_(std::make_shared<ArrowBytes>(bytes)),
        pool_(static_cast<std::int64_t>(bytes.most_memory)) {
    const bool is_encrypted = guarded(*bytes_, "", [&] { return has_encrypted_footer() || !open(); });
    if (is_encrypted) throw encrypted(bytes.name);
  }

  std::uint64_t bytes() const override { return bytes_->size(); }
  const std::vector<ParquetColumn>& columns() const override { return columns_; }
  const std::vector<ParquetRowGroup>& row_groups() const override { return groups_; }
  std::unique_ptr<ParquetRows> rows(std::size_t row_group,
                                    std::span<const ParquetWanted> wanted) override {
    const std::string place = "row group " + std::to_string(row_group) + ": ";
    return guarded(*bytes_, place, [&] {
      return std::make_unique<ArrowRows>(bytes_, place, *reader_->RowGroup(static_cast<int>(row_group)),
                                         wanted);
    });
  }

 private:
  // False if columns of it are encrypted.
  bool open() {
    reader_ = parquet::ParquetFileReader::Open(bytes_, properties(pool_));
    const auto& metadata = *reader_->metadata();
    if (metadata.is_encryption_algorithm_set()) return false;
    read_schema(metadata);
    read_groups(metadata);
    return true;
  }
  // Whether the footer is encrypted: Arrow calls such a file damaged.
  bool has_encrypted_footer() {
    std::string magic(std::min<std::size_t>(encrypted_magic.size(), bytes()), ' ');
    const auto size = static_cast<std::int64_t>(magic.size());
    PARQUET_THROW_NOT_OK(
        bytes_->ReadAt(static_cast<std::int64_t>(bytes()) - size, size, magic.data()).status());
    return magic == encrypted_magic;
  }
  void read_schema(const parquet::FileMetaData& file) {
    for (int i = 0; i < file.num_columns(); ++i) columns_.push_back(describe(*file.schema()->Column(i)));
  }
  // A group begins with its first column; some writers do not say where themselves.
  void read_groups(const parquet::FileMetaData& file) {
    std::uint64_t begin = 0;
    for (int i = 0; i < file.num_row_groups(); ++i) {
      const auto group = file.RowGroup(i);
      if (group->num_columns() > 0) begin = std::max(begin, begin_of(*group->ColumnChunk(0)));
      if (begin >= bytes() || group->num_rows() < 0)
        throw parquet::ParquetException("row group ", i, " lies behind the end of the file");
      groups_.push_back({begin, static_cast<std::uint64_t>(group->num_rows())});
    }
  }
  static std::uint64_t begin_of(const parquet::ColumnChunkMetaData& column) {
    const std::int64_t data = column.data_page_offset();
    const std::int64_t dictionary = column.has_dictionary_page() ? column.dictionary_page_offset() : 0;
    return static_cast<std::uint64_t>(dictionary > 0 ? std::min(data, dictionary) : data);
  }

  const std::shared_ptr<ArrowBytes> bytes_;
  LimitedPool pool_;
  std::unique_ptr<parquet::ParquetFileReader> reader_;
  std::vector<ParquetColumn> columns_;
  std::vector<ParquetRowGroup> groups_;
};

}  // namespace
}  // namespace actorflow

extern "C" [[gnu::visibility("default")]] actorflow::ParquetModule ACTORFLOW_OPEN_PARQUET() {
  using namespace actorflow;
  return {[](const ParquetBytes& bytes) -> ParquetFile* { return new ArrowFile(bytes); },
          create_arrow_writer};
}
