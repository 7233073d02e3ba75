#include "dataflow/values/dtype.h"

#include <array>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

struct Entry {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Entry, 12> entries = {{{"invalid", 0},
                                            {"float32", 4},
                                            {"float64", 8},
                                            {"int32", 4},
                                            {"int64", 8},
                                            {"bool", 1},
                                            {"uint8", 1},
                                            {"string", sizeof(std::string)},
                                            {"float16", 2},
                                            {"bfloat16", 2},
                                            {"int8", 1},
                                            {"int16", 2}}};

const Entry& entry(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return entries[index < entries.size() ? index : 0];
}

}  // namespace

std::size_t size_of(DType dtype) { return entry(dtype).bytes; }

std::string_view to_string(DType dtype) { return entry(dtype).name; }

DType parse_dtype(std::string_view name) {
  std::string known;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].name == name) return static_cast<DType>(i);
    known += (i > 1 ? ", " : "") + std::string(entries[i].name);
  }
  throw invalid_argument("unknown dtype '" + std::string(name) + "'; expected one of " + known);
}

}  // namespace actorflow
