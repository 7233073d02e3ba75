#include "schema/parquet/parquet_types.h"

#include <algorithm>

#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

using Kind = ParquetColumn::Kind;

constexpr std::size_t most_listed = 12;

bool is_bool(const ParquetField& field) { return field.bits == 1; }

// How many decimal digits always fit into so many bits.
int whole_digits(int bits) { return bits * 30103 / 100000; }

bool integer_takes(const ParquetField& field, const ParquetColumn& column) {
  const int value_bits = field.bits - field.is_signed;
  switch (column.kind) {
    case Kind::boolean:
      return is_bool(field);
    case Kind::integer:
      return !is_bool(field) && (field.is_signed || !column.is_signed) &&
             value_bits >= column.bits - column.is_signed;
    case Kind::date:
      return field.is_signed && field.bits >= 32;
    case Kind::time:
      return field.is_signed && field.bits >= column.bits;
    case Kind::decimal:
      return !is_bool(field) && field.is_signed && column.scale == 0 &&
             whole_digits(value_bits) >= column.precision;
    default:
      return false;
  }
}

bool real_takes(const ParquetField& field, const ParquetColumn& column) {
  switch (column.kind) {
    case Kind::integer:
      return field.bits >= column.bits - column.is_signed;
    case Kind::real:
      return field.bits >= column.bits;
    case Kind::decimal:  // so many digits come back from the nearest number
      return whole_digits(field.bits - 1) >= column.precision;
    default:
      return false;
  }
}

bool text_takes(const ParquetColumn& column) {
  return column.kind == Kind::text || column.kind == Kind::date || column.kind == Kind::decimal;
}

std::string listed(std::span<const ParquetColumn> columns) {
  const auto some = columns.first(std::min(columns.size(), most_listed));
  return joined(some, ", ", &ParquetColumn::name) + (columns.size() > most_listed ? ", ..." : "");
}

const char* advice(const ParquetColumn& column) {
  switch (column.kind) {
    case Kind::integer:
      return "a field of as many bits";
    case Kind::real:
      return "float64, or float32 if it is one";
    case Kind::boolean:
      return "bool";
    case Kind::text:
      return "a text";
    case Kind::date:
      return "int32 (the days since 1970) or a text";
    case Kind::time:
      return "int64 (of that unit)";
    case Kind::decimal:
      return column.precision <= 15 ? "float64 or a text" : "a text";
    default:
      return "another column: lists, maps, and types that are rare are not read";
  }
}

}  // namespace

bool takes_column(const ParquetField& field, const ParquetColumn& column) {
  switch (field.form) {
    case ParquetForm::integer:
      return integer_takes(field, column);
    case ParquetForm::real:
      return real_takes(field, column);
    case ParquetForm::text:
      return text_takes(column);
  }
  return false;
}

std::vector<std::size_t> match_columns(const std::string& file, std::span<const ParquetColumn> columns,
                                       std::span<const std::string> names,
                                       std::span<const ParquetField> fields) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto column = std::ranges::find(columns, names[i], &ParquetColumn::name);
    if (column == columns.end())
      throw Error(Code::not_found, "'" + file + "' has no column '" + names[i] +
                                       "'; its columns are: " + listed(columns));
    if (std::ranges::find(column + 1, columns.end(), names[i], &ParquetColumn::name) != columns.end())
      throw invalid_argument("'" + file + "' has several columns '" + names[i] +
                             "', of which a job cannot choose one: write them with names that differ");
    if (!takes_column(fields[i], *column))
      throw invalid_argument("'" + file + "': the column '" + column->name + "' is of the type " +
                             column->type + ", which field " + std::to_string(i + 1) +
                             " of the job's records, " + fields[i].layout +
                             ", does not hold without loss; read it as " + advice(*column));
    numbers.push_back(static_cast<std::size_t>(column - columns.begin()));
  }
  return numbers;
}

}  // namespace actorflow
