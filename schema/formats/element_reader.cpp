#include "schema/formats/element_reader.h"

namespace actorflow {

std::int64_t ElementReader::skip(std::int64_t count) {
  Tuple unused;
  std::int64_t skipped = 0;
  while (skipped < count && next(unused)) ++skipped;
  return skipped;
}

}  // namespace actorflow
