#include "schema/records/sums.h"

#include <string>

#include "dataflow/values/error.h"

namespace actorflow::detail {

void throw_unequal_vectors(std::size_t expected, std::size_t got) {
  throw invalid_argument("a sum of vectors: expected " + std::to_string(expected) +
                         " elements, as the first one has, got " + std::to_string(got));
}

}  // namespace actorflow::detail
