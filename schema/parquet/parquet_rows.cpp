#include "schema/parquet/parquet_rows.h"

namespace actorflow {

ParquetValues ParquetColumnBuffer::values() {
  ParquetValues values;
  if (field_.is_optional) values.present = present_.data();
  if (field_.form == ParquetForm::integer) {
    values.integers = integers_.data();
  } else if (field_.form == ParquetForm::real) {
    values.reals = reals_.data();
  } else {
    texts_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      texts_.emplace_back(bytes_.data() + begin, end - begin);
      begin = end;
    }
    values.texts = texts_.data();
  }
  return values;
}

void ParquetColumnBuffer::clear() {
  integers_.clear();
  reals_.clear();
  bytes_.clear();
  ends_.clear();
  present_.clear();
}

}  // namespace actorflow
