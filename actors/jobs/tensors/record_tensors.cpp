#include "actors/jobs/tensors/record_tensors.h"

#include <fmt/format.h>

#include "dataflow/values/error.h"

namespace actorflow::detail {

void throw_other_length(std::size_t got, const Tensor& column) {
  throw invalid_argument(
      fmt::format("a record has a vector of {} elements where the first one of its "
                  "block has {}: rows of a tensor have one length",
                  got, column.shape()[1]));
}

void check_column(const Tensor& column, std::size_t rows, DType dtype, std::size_t elements) {
  const bool has_rows =
      column.shape().rank() > 0 && column.shape()[0] == static_cast<std::int64_t>(rows);
  if (column.dtype() == dtype && has_rows &&
      column.elements() == static_cast<std::int64_t>(rows * elements))
    return;
  throw invalid_argument(fmt::format("expected {} rows of {} elements of {}, got {}", rows, elements,
                                     to_string(dtype), column.describe()));
}

void check_num_columns(std::size_t wanted, std::size_t got) {
  if (wanted != got)
    throw invalid_argument(
        fmt::format("the record has {} fields that are tensors, but there are {} tensors", wanted, got));
}

}  // namespace actorflow::detail
