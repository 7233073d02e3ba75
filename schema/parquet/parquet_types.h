// What columns of Parquet files hold, and which fields of records take it without loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace actorflow {

// A column that is flat: its values lie in no list or map. Others are `other`.
struct ParquetColumn {
  enum class Kind : std::uint8_t {
    other,
    boolean,
    integer,
    real,
    text,  // of any bytes
    date,  // days since 1970
    time,  // of a day, or since 1970
    decimal
  };

  std::string name;  // "a.b": the field b of the struct a
  std::string type;  // as the file has it: "int32", "decimal(15, 2)", "timestamp in microseconds"
  Kind kind = Kind::other;
  int bits = 0;  // of an integer or a time; of a real those of its mantissa: 24 or 53
  bool is_signed = true;
  int precision = 0, scale = 0;  // of a decimal: its digits, and how many of them are behind the point
};

// The form in which the values of a column are handed over.
enum class ParquetForm : std::uint8_t {
  integer,  // also bools, as 0 and 1, and uint64, by its bits
  real,
  text  // also dates, "1998-09-02", and decimals, "-0.05"
};

// A field of a record that takes a column.
struct ParquetField {
  std::string layout;  // record_layout()
  ParquetForm form = ParquetForm::integer;
  int bits = 0;  // as ParquetColumn::bits; 1: a bool
  bool is_signed = true;
  bool is_optional = false;
};

// True if the field holds every value that the column may have. An integer takes integers of as many
// bits or fewer; a floating-point number also integers and decimals whose digits it has; an integer of
// 64 bits takes a time, in its unit, and one of 32 bits a date, in days; a text takes texts, dates and
// decimals.
bool takes_column(const ParquetField& field, const ParquetColumn& column);

// The numbers of the columns of a file that have these names, for the fields in their order. Throws
// not_found for one that is missing, and invalid_argument for a name that is there twice and a field
// that does not take its column; all name the file.
std::vector<std::size_t> match_columns(const std::string& file, std::span<const ParquetColumn> columns,
                                       std::span<const std::string> names,
                                       std::span<const ParquetField> fields);

}  // namespace actorflow
