// Rows of Parquet files as records.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "actors/jobs/engine/parts/operator_failure.h"
#include "actors/jobs/parquet/parquet_input.h"
#include "dataflow/jobs/plan.h"
#include "schema/parquet/parquet_record.h"

namespace actorflow {

// A page, packed and not, and a dictionary, of the sizes that are usual.
inline constexpr std::size_t least_column_bytes = std::size_t{4} << 20;

template <class T>
struct ParquetFormat {
  using Record = T;
  std::shared_ptr<const ParquetTable> table;
  std::shared_ptr<const PlanOperator> op;
  ParquetSample* sample = nullptr;  // if only a sample is read

  // `from`: an OpenSplit of sources.h, which includes this header.
  template <class OpenSplit, class Next>
  void read(const OpenSplit& from, Next& next) const {
    // Pages of all columns are there at once, however many parts run here.
    const std::size_t memory =
        std::max(from.part.memory_bytes(), least_column_bytes * table->fields.size());
    ParquetSplit split(from.part.storage(), from.file, from.split, *table, memory, sample);
    while (const std::size_t rows = split.next()) {
      from.passed(split.offset(), 0, 0);
      pass_on(from, split, rows, next);
      from.passed(split.end_offset(), split.bytes(), rows);
    }
  }

 private:
  template <class OpenSplit, class Next>
  void pass_on(const OpenSplit& from, const ParquetSplit& split, std::size_t rows, Next& next) const {
    std::size_t row = 0;
    try {
      for (; row < rows; ++row)
        from.part.feed(
            [&] { next(call_user(*op, [&] { return parse_parquet<T>(split.values(), row); })); });
    } catch (const OperatorFailure& failure) {
      throw at_record(failure, "file '" + from.file.path + "', " + split.place_of(row),
                      split.text_of(row));
    }
  }
};

}  // namespace actorflow
