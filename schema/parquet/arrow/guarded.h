// Turns what Arrow throws into our errors. For this folder only.
#pragma once

#include <parquet/exception.h>

#include <exception>
#include <new>
#include <string>

#include "dataflow/values/error.h"
#include "schema/parquet/arrow/arrow_bytes.h"

namespace actorflow {

// The error of a damaged file, naming the file.
Error damaged(const std::string& file, const std::string& what);
// Of pages above the limit of LimitedPool, which they are whenever they are read.
Error too_large(const std::string& file, const std::string& what);
// Of a machine without memory, which may have some later.
Error out_of_memory(const std::string& file, const std::string& what);
Error encrypted(const std::string& file);

// Calls Arrow and rethrows its errors as ours, with this place of the file in front ("row group 2: ", or
// ""). An error of reading the bytes, or of memory, stays as it is.
template <class F>
auto guarded(const ArrowBytes& bytes, const std::string& place, F&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const parquet::ParquetStatusException& error) {
    bytes.rethrow();
    const std::string what = place + error.status().message();
    if (error.status().IsCapacityError()) throw too_large(bytes.name(), what);
    if (error.status().IsOutOfMemory()) throw out_of_memory(bytes.name(), what);
    throw damaged(bytes.name(), place + error.what());
  } catch (const std::exception& error) {
    bytes.rethrow();
    throw damaged(bytes.name(), place + error.what());
  }
}

}  // namespace actorflow
