#include <parquet/schema.h>
#include <parquet/types.h>

#include <algorithm>

#include "schema/parquet/arrow/arrow_columns.h"

namespace actorflow {
namespace {

using Kind = ParquetColumn::Kind;
using Unit = parquet::LogicalType::TimeUnit;

constexpr int most_digits = 38;

const char* name_of(Unit::unit unit) {
  switch (unit) {
    case Unit::MILLIS:
      return "milliseconds";
    case Unit::MICROS:
      return "microseconds";
    case Unit::NANOS:
      return "nanoseconds";
    default:
      return "an unknown unit";
  }
}

void set_plain(ParquetColumn& column, Kind kind, const std::string& type, int bits = 0) {
  column.kind = kind;
  column.type = type;
  column.bits = bits;
}

// Describes a column by its physical type, where it has no logical one.
void set_stored(ParquetColumn& column, parquet::Type::type type) {
  switch (type) {
    case parquet::Type::BOOLEAN:
      return set_plain(column, Kind::boolean, "bool");
    case parquet::Type::INT32:
      return set_plain(column, Kind::integer, "int32", 32);
    case parquet::Type::INT64:
      return set_plain(column, Kind::integer, "int64", 64);
    case parquet::Type::FLOAT:
      return set_plain(column, Kind::real, "float32", 24);
    case parquet::Type::DOUBLE:
      return set_plain(column, Kind::real, "float64", 53);
    case parquet::Type::BYTE_ARRAY:
      return set_plain(column, Kind::text, "binary");
    default:
      column.type = parquet::TypeToString(type);
  }
}

void set_integer(ParquetColumn& column, const parquet::IntLogicalType& type) {
  column.is_signed = type.is_signed();
  set_plain(column, Kind::integer,
            (type.is_signed() ? "int" : "uint") + std::to_string(type.bit_width()), type.bit_width());
}

void set_decimal(ParquetColumn& column, const parquet::DecimalLogicalType& type) {
  column.precision = type.precision();
  column.scale = type.scale();
  set_plain(column, type.precision() <= most_digits ? Kind::decimal : Kind::other,
            "decimal(" + std::to_string(type.precision()) + ", " + std::to_string(type.scale()) + ")");
}

void set_logical(ParquetColumn& column, const parquet::LogicalType& type, parquet::Type::type stored) {
  const int bits = stored == parquet::Type::INT32 ? 32 : 64;
  if (type.is_string() || type.is_enum() || type.is_JSON() || type.is_BSON())
    set_plain(column, Kind::text, type.is_string() ? "string" : type.ToString());
  else if (type.is_int())
    set_integer(column, static_cast<const parquet::IntLogicalType&>(type));
  else if (type.is_decimal())
    set_decimal(column, static_cast<const parquet::DecimalLogicalType&>(type));
  else if (type.is_date())
    set_plain(column, Kind::date, "date", 32);
  else if (type.is_time())
    set_plain(column, Kind::time,
              std::string("time in ") +
                  name_of(static_cast<const parquet::TimeLogicalType&>(type).time_unit()),
              bits);
  else if (type.is_timestamp())
    set_plain(column, Kind::time,
              std::string("timestamp in ") +
                  name_of(static_cast<const parquet::TimestampLogicalType&>(type).time_unit()),
              bits);
  else
    column.type = type.ToString();
}

}  // namespace

ParquetColumn describe(const parquet::ColumnDescriptor& from) {
  ParquetColumn column;
  column.name = from.path()->ToDotString();
  const auto& type = from.logical_type();
  if (type && type->is_valid() && !type->is_none())
    set_logical(column, *type, from.physical_type());
  else
    set_stored(column, from.physical_type());
  if (from.max_repetition_level() > 0) set_plain(column, Kind::other, "a list or map of " + column.type);
  return column;
}

}  // namespace actorflow
