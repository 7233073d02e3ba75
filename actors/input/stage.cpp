#include "actors/input/stage.h"

namespace actorflow {

std::int64_t Stage::skip(std::int64_t count) {
  Tuple unused;
  std::int64_t skipped = 0;
  while (skipped < count && next(unused)) ++skipped;
  return skipped;
}

std::int64_t Stage::append(std::int64_t count, RowStacker& rows) {
  Tuple element;
  std::int64_t added = 0;
  for (; added < count && next(element); ++added) rows.add(element);
  return added;
}

}  // namespace actorflow
