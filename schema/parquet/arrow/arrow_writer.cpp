#include "schema/parquet/arrow/arrow_writer.h"

#include <arrow/io/interfaces.h>
#include <arrow/status.h>
#include <arrow/util/utf8.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// An output stream of Arrow's that appends to our file. An exception of ours becomes an IOError for
// Arrow, and is kept for rethrow().
class ArrowSink final : public arrow::io::OutputStream {
 public:
  explicit ArrowSink(std::function<void(std::span<const std::byte>)> write) : write_(std::move(write)) {}

  using arrow::io::OutputStream::Write;
  arrow::Status Write(const void* data, std::int64_t count) override try {
    write_({static_cast<const std::byte*>(data), static_cast<std::size_t>(count)});
    written_ += count;
    return arrow::Status::OK();
  } catch (...) {
    failure_ = std::current_exception();
    return arrow::Status::IOError("the file cannot be written");
  }
  arrow::Result<std::int64_t> Tell() const override { return written_; }
  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return is_closed_; }

  // Throws what writing threw, if it threw.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::function<void(std::span<const std::byte>)> write_;
  std::int64_t written_ = 0;
  bool is_closed_ = false;
  std::exception_ptr failure_;
};

bool is_bool(const ParquetField& field) { return field.form == ParquetForm::integer && field.bits == 1; }

parquet::schema::NodePtr node_of(const std::string& name, const ParquetField& field) {
  using parquet::Repetition, parquet::Type, parquet::LogicalType, parquet::schema::PrimitiveNode;
  const auto repetition = field.is_optional ? Repetition::OPTIONAL : Repetition::REQUIRED;
  if (field.form == ParquetForm::text)
    return PrimitiveNode::Make(name, repetition, LogicalType::String(), Type::BYTE_ARRAY);
  if (field.form == ParquetForm::real)
    return PrimitiveNode::Make(name, repetition, field.bits == 24 ? Type::FLOAT : Type::DOUBLE);
  if (is_bool(field)) return PrimitiveNode::Make(name, repetition, Type::BOOLEAN);
  return PrimitiveNode::Make(name, repetition, LogicalType::Int(field.bits, field.is_signed),
                             field.bits == 64 ? Type::INT64 : Type::INT32);
}

std::shared_ptr<parquet::schema::GroupNode> schema_of(const NewParquet& output) {
  parquet::schema::NodeVector nodes;
  for (std::size_t i = 0; i < output.fields.size(); ++i)
    nodes.push_back(node_of(output.names[i], output.fields[i]));
  return std::static_pointer_cast<parquet::schema::GroupNode>(
      parquet::schema::GroupNode::Make("schema", parquet::Repetition::REQUIRED, nodes));
}

parquet::Compression::type codec_of(ParquetCodec codec) {
  switch (codec) {
    case ParquetCodec::none:
      return parquet::Compression::UNCOMPRESSED;
    case ParquetCodec::snappy:
      return parquet::Compression::SNAPPY;
    case ParquetCodec::gzip:
      return parquet::Compression::GZIP;
    case ParquetCodec::lz4:
      return parquet::Compression::LZ4;
    case ParquetCodec::zstd:
      return parquet::Compression::ZSTD;
  }
  throw invalid_argument("an unknown ParquetCodec");
}

std::shared_ptr<parquet::WriterProperties> properties_of(ParquetCodec codec) {
  return parquet::WriterProperties::Builder()
      .compression(codec_of(codec))
      ->created_by("actorflow")
      ->enable_page_checksum()
      ->build();
}

// A column chunk of some rows.
class Chunk {
 public:
  Chunk(parquet::ColumnWriter& writer, const ParquetValues& values, std::size_t rows)
      : writer_(writer), values_(values), rows_(rows) {
    if (!values.present) return;
    levels_.assign(values.present, values.present + rows);
  }

  void write(const ParquetField& field) {
    if (field.form == ParquetForm::text) return write_texts();
    if (field.form == ParquetForm::real && field.bits == 24)
      return write_as<parquet::FloatWriter, float>(values_.reals);
    if (field.form == ParquetForm::real) return write_as<parquet::DoubleWriter, double>(values_.reals);
    if (is_bool(field)) return write_bools();
    if (field.bits == 64) return write_as<parquet::Int64Writer, std::int64_t>(values_.integers);
    write_as<parquet::Int32Writer, std::int32_t>(values_.integers);
  }

 private:
  template <class Writer, class T, class From>
  void write_as(const From* from) {
    std::vector<T> present;
    present.reserve(rows_);
    each_present([&](std::size_t row) { present.push_back(static_cast<T>(from[row])); });
    write_batch<Writer>(present.data());
  }
  void write_bools() {
    const auto present = std::make_unique<bool[]>(rows_);
    std::size_t next = 0;
    each_present([&](std::size_t row) { present[next++] = values_.integers[row] != 0; });
    write_batch<parquet::BoolWriter>(present.get());
  }
  void write_texts() {
    std::vector<parquet::ByteArray> present;
    present.reserve(rows_);
    each_present([&](std::size_t row) { present.emplace_back(values_.texts[row]); });
    write_batch<parquet::ByteArrayWriter>(present.data());
  }
  template <class Writer, class T>
  void write_batch(const T* present) {
    static_cast<Writer&>(writer_).WriteBatch(
        static_cast<std::int64_t>(rows_), levels_.empty() ? nullptr : levels_.data(), nullptr, present);
    writer_.Close();
  }
  template <class F>
  void each_present(F&& take) const {
    for (std::size_t row = 0; row < rows_; ++row)
      if (levels_.empty() || levels_[row] != 0) take(row);
  }

  parquet::ColumnWriter& writer_;
  const ParquetValues& values_;
  const std::size_t rows_;
  std::vector<std::int16_t> levels_;  // 1 for a row with a value; none: all have one
};

class ArrowWriter final : public ParquetWriter {
 public:
  explicit ArrowWriter(const NewParquet& output)
      : name_(output.name),
        names_(output.names),
        fields_(output.fields),
        sink_(std::make_shared<ArrowSink>(output.write)) {
    arrow::util::InitializeUTF8();
    guarded([&] {
      writer_ = parquet::ParquetFileWriter::Open(sink_, schema_of(output), properties_of(output.codec));
    });
  }

  void write(std::span<const ParquetValues> values, std::size_t rows) override {
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (fields_[i].form == ParquetForm::text) expect_utf8(i, values[i], rows);
    guarded([&] {
      parquet::RowGroupWriter& group = *writer_->AppendRowGroup();
      for (std::size_t i = 0; i < fields_.size(); ++i)
        Chunk(*group.NextColumn(), values[i], rows).write(fields_[i]);
      group.Close();
    });
  }
  void finish() override {
    guarded([&] { writer_->Close(); });
  }

 private:
  void expect_utf8(std::size_t column, const ParquetValues& values, std::size_t rows) const {
    for (std::size_t row = 0; row < rows; ++row)
      if (!arrow::util::ValidateUTF8(values.texts[row]))
        throw invalid_argument("'" + name_ + "': a text of the column '" + names_[column] +
                               "' is not UTF-8, as texts of Parquet files have to be: write_csv() takes "
                               "any bytes");
  }
  template <class F>
  void guarded(F&& call) const {
    try {
      call();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      sink_->rethrow();
      const auto* refused = dynamic_cast<const parquet::ParquetStatusException*>(&error);
      if (refused && refused->status().IsOutOfMemory()) throw std::bad_alloc();
      throw Error(Code::internal, "'" + name_ + "' cannot be written: " + error.what());
    }
  }

  const std::string name_;
  const std::vector<std::string> names_;
  const std::vector<ParquetField> fields_;
  const std::shared_ptr<ArrowSink> sink_;
  std::unique_ptr<parquet::ParquetFileWriter> writer_;
};

}  // namespace

ParquetWriter* create_arrow_writer(const NewParquet& output) { return new ArrowWriter(output); }

}  // namespace actorflow
