#include "schema/parquet/parquet_record.h"

#include "dataflow/values/error.h"
#include "schema/records/excerpt.h"

namespace actorflow::detail {

void throw_null(std::size_t column, const std::string& layout) {
  throw invalid_argument("column " + std::to_string(column + 1) + ": expected " + layout +
                         ", got no value (null); read it into std::optional");
}

void throw_no_char(std::size_t column, std::string_view text) {
  throw invalid_argument("column " + std::to_string(column + 1) + ": expected a char, got '" +
                         excerpt(text) + "'");
}

}  // namespace actorflow::detail
