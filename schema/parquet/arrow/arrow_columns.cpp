#include "schema/parquet/arrow/arrow_columns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/parquet/arrow/texts.h"

namespace actorflow {
namespace {

// The member of ParquetValues for a type of values.
const std::int64_t*& pointer(ParquetValues& values, std::int64_t) { return values.integers; }
const double*& pointer(ParquetValues& values, double) { return values.reals; }
const std::string_view*& pointer(ParquetValues& values, std::string_view) { return values.texts; }

// Convert: makes an Out from a value of the file; gets room for a text that it may make.
template <class Physical, class Out, class Convert>
class TypedColumn final : public ArrowColumn {
 public:
  using Value = typename Physical::c_type;

  TypedColumn(std::shared_ptr<parquet::ColumnReader> reader, Convert convert)
      : reader_(std::static_pointer_cast<parquet::TypedColumnReader<Physical>>(std::move(reader))),
        convert_(std::move(convert)),
        present_level_(reader_->descr()->max_definition_level()),
        raw_(std::make_unique<Value[]>(most_rows)),
        levels_(present_level_ > 0 ? most_rows : 0),
        present_(levels_.size()),
        values_(most_rows),
        rooms_(std::is_same_v<Out, std::string_view> ? most_rows : 1) {}

  ParquetValues values() const override {
    ParquetValues values;
    pointer(values, Out()) = values_.data() + at();
    if (has_nulls_) values.present = present_.data() + at();
    return values;
  }

 private:
  std::size_t decode() override {
    std::int64_t count = 0;
    const auto rows = static_cast<std::size_t>(reader_->ReadBatch(
        most_rows, present_level_ > 0 ? levels_.data() : nullptr, nullptr, raw_.get(), &count));
    if (present_level_ > 0) expect_values(rows, count);
    has_nulls_ = static_cast<std::size_t>(count) < rows;
    has_nulls_ ? spread(rows) : convert_all(rows);
    return rows;
  }
  std::uint64_t skip_undecoded(std::uint64_t rows) override {
    return static_cast<std::uint64_t>(reader_->Skip(static_cast<std::int64_t>(rows)));
  }

  // Some encodings of values count them again, which a damaged page may do otherwise.
  void expect_values(std::size_t rows, std::int64_t count) const {
    const auto present =
        std::count(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(rows), present_level_);
    if (present != count)
      throw Error(Code::data_loss, "column '" + reader_->descr()->path()->ToDotString() +
                                       "': expected " + std::to_string(present) + " values in " +
                                       std::to_string(rows) + " rows, got " + std::to_string(count));
  }
  void convert_all(std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) values_[i] = convert_(raw_[i], room(i));
  }
  // Only rows that are not null have a value.
  void spread(std::size_t rows) {
    for (std::size_t i = 0, next = 0; i < rows; ++i) {
      present_[i] = levels_[i] == present_level_;
      values_[i] = present_[i] ? convert_(raw_[next++], room(i)) : Out();
    }
  }
  TextRoom& room(std::size_t row) { return rooms_[std::is_same_v<Out, std::string_view> ? row : 0]; }

  const std::shared_ptr<parquet::TypedColumnReader<Physical>> reader_;
  const Convert convert_;
  const std::int16_t present_level_;  // 0: there are no nulls
  const std::unique_ptr<Value[]> raw_;
  std::vector<std::int16_t> levels_;
  std::vector<std::uint8_t> present_;
  std::vector<Out> values_;
  std::vector<TextRoom> rooms_;
  bool has_nulls_ = false;
};

using Column = std::unique_ptr<ArrowColumn>;
using Reader = std::shared_ptr<parquet::ColumnReader>;

template <class Physical, class Convert>
Column typed(Reader reader, Convert convert) {
  using Out = std::invoke_result_t<const Convert&, const typename Physical::c_type&, TextRoom&>;
  return std::make_unique<TypedColumn<Physical, Out, Convert>>(std::move(reader), std::move(convert));
}

// A column of numbers that are whole, in its form.
template <class Physical>
Column whole_numbers(Reader reader, ParquetForm form, const ParquetColumn& column) {
  using Value = typename Physical::c_type;
  if (form == ParquetForm::text && column.kind == ParquetColumn::Kind::date)
    return typed<Physical>(std::move(reader),
                           [](Value days, TextRoom& room) { return date_text(days, room); });
  if (column.is_signed) {
    if (form == ParquetForm::integer)
      return typed<Physical>(std::move(reader),
                             [](Value value, TextRoom&) { return std::int64_t{value}; });
    return typed<Physical>(std::move(reader),
                           [](Value value, TextRoom&) { return static_cast<double>(value); });
  }
  using Unsigned = std::make_unsigned_t<Value>;
  if (form == ParquetForm::integer)
    return typed<Physical>(std::move(reader), [](Value value, TextRoom&) {
      return static_cast<std::int64_t>(static_cast<Unsigned>(value));
    });
  return typed<Physical>(std::move(reader), [](Value value, TextRoom&) {
    return static_cast<double>(static_cast<Unsigned>(value));
  });
}

// A column of decimals in its form; digits(value) is a value without its point.
template <class Physical, class Digits>
Column decimals(Reader reader, ParquetForm form, int scale, Digits digits) {
  using Value = typename Physical::c_type;
  if (form == ParquetForm::integer)
    return typed<Physical>(std::move(reader), [digits](const Value& value, TextRoom&) {
      return static_cast<std::int64_t>(digits(value));
    });
  if (form == ParquetForm::text)
    return typed<Physical>(std::move(reader), [digits, scale](const Value& value, TextRoom& room) {
      return decimal_text(digits(value), scale, room);
    });
  // Both are exact, so that their quotient is the nearest number: fields take 15 digits at most.
  double power = 1;
  for (int i = 0; i < scale; ++i) power *= 10;
  return typed<Physical>(std::move(reader), [digits, power](const Value& value, TextRoom&) {
    return static_cast<double>(static_cast<std::int64_t>(digits(value))) / power;
  });
}

template <class Physical>
Column numbers(Reader reader, ParquetForm form, const ParquetColumn& column) {
  if (column.kind == ParquetColumn::Kind::decimal)
    return decimals<Physical>(std::move(reader), form, column.scale,
                              [](auto value) { return Digits{value}; });
  return whole_numbers<Physical>(std::move(reader), form, column);
}

template <class Physical>
Column reals(Reader reader) {
  return typed<Physical>(std::move(reader),
                         [](auto value, TextRoom&) { return static_cast<double>(value); });
}

Column bytes(Reader reader, ParquetForm form, const ParquetColumn& column) {
  if (column.kind == ParquetColumn::Kind::decimal)
    return decimals<parquet::ByteArrayType>(
        std::move(reader), form, column.scale,
        [](const parquet::ByteArray& value) { return digits_of(value.ptr, value.len); });
  return typed<parquet::ByteArrayType>(
      std::move(reader), [](const parquet::ByteArray& value, TextRoom&) {
        return std::string_view(reinterpret_cast<const char*>(value.ptr), value.len);
      });
}

Column fixed_bytes(Reader reader, ParquetForm form, const ParquetColumn& column) {
  const auto length = static_cast<std::size_t>(reader->descr()->type_length());
  return decimals<parquet::FLBAType>(
      std::move(reader), form, column.scale,
      [length](const parquet::FixedLenByteArray& value) { return digits_of(value.ptr, length); });
}

}  // namespace

std::size_t ArrowColumn::available() {
  if (at_ == decoded_) {
    at_ = 0;
    decoded_ = decode();
  }
  return decoded_ - at_;
}

std::uint64_t ArrowColumn::skip(std::uint64_t rows) {
  const std::uint64_t here = std::min<std::uint64_t>(rows, decoded_ - at_);
  at_ += static_cast<std::size_t>(here);
  return here == rows ? rows : here + skip_undecoded(rows - here);
}

std::unique_ptr<ArrowColumn> make_column(std::shared_ptr<parquet::ColumnReader> reader,
                                         ParquetForm form) {
  const ParquetColumn column = describe(*reader->descr());
  switch (reader->type()) {
    case parquet::Type::BOOLEAN:
      return typed<parquet::BooleanType>(std::move(reader),
                                         [](bool value, TextRoom&) { return std::int64_t{value}; });
    case parquet::Type::INT32:
      return numbers<parquet::Int32Type>(std::move(reader), form, column);
    case parquet::Type::INT64:
      return numbers<parquet::Int64Type>(std::move(reader), form, column);
    case parquet::Type::FLOAT:
      return reals<parquet::FloatType>(std::move(reader));
    case parquet::Type::DOUBLE:
      return reals<parquet::DoubleType>(std::move(reader));
    case parquet::Type::BYTE_ARRAY:
      return bytes(std::move(reader), form, column);
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      return fixed_bytes(std::move(reader), form, column);
    default:
      break;
  }
  throw Error(Code::internal, "no form of a column of the type " + column.type);
}

}  // namespace actorflow
