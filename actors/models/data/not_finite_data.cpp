#include "actors/models/data/not_finite_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <string>

#include "actors/input/rows.h"

namespace actorflow {
namespace {

struct BadValues {
  double first = 0;
  std::int64_t place = 0, count = 0;
};

template <class... T>
BadValues bad_values_in(const Tensor& tensor) {
  BadValues bad;
  const auto look = [&]<class Type>(Type) {
    if (tensor.dtype() != dtype_of<Type>) return;
    const auto values = tensor.values<Type>();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]) && bad.count++ == 0)
        bad = {static_cast<double>(values[i]), static_cast<std::int64_t>(i), 1};
  };
  (look(T{}), ...);
  return bad;
}

std::string name_of(std::size_t component, std::size_t inputs, std::size_t labels) {
  if (component < inputs) return fmt::format("input {}", component);
  if (component < inputs + labels) return fmt::format("label {}", component - inputs);
  return "the weight";
}

// The first tensor of a batch that is not finite.
std::optional<std::string> describe_bad(const Tuple& batch, std::size_t inputs, std::size_t labels) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const BadValues bad = bad_values_in<float, double>(batch[i]);
    if (bad.count == 0) continue;
    const std::int64_t width = batch[i].elements() / rows_of(batch);
    const std::string where = width > 1 ? fmt::format(", at place {}", bad.place % width) : "";
    const std::string more = bad.count > 1 ? fmt::format(", and {} more values", bad.count - 1) : "";
    return fmt::format("{} of example {}{}, is {}{}", name_of(i, inputs, labels), bad.place / width,
                       where, bad.first, more);
  }
  return std::nullopt;
}

std::string sentence(const std::string& batch, const std::string& bad) {
  return fmt::format(
      "the data are not finite: in {}, {} (examples and places are counted from 0); leave such examples "
      "out by Dataset::filter(), or give a CSV's component a default_value",
      batch, bad);
}

std::string found_in(FitBatches batches, const FailedBatches& where, std::size_t inputs,
                     std::size_t labels) {
  batches.begin_epoch(where.epoch, where.first);
  for (std::int64_t number = where.first; number <= where.last; ++number) {
    const auto batch = batches.next();
    if (!batch) break;
    if (const auto bad = describe_bad(*batch, inputs, labels))
      return sentence(fmt::format("batch {} of epoch {}", number + 1, where.epoch), *bad);
  }
  return fmt::format("the data of batch {} of epoch {} are finite", where.last + 1, where.epoch);
}

}  // namespace

Error with_blame(const Error& error, const std::function<FitBatches()>& batches,
                 const FailedBatches& where, std::size_t inputs, std::size_t labels) {
  if (error.code() != Code::not_finite) return error;
  try {
    return Error(error.code(),
                 fmt::format("{}: {}", found_in(batches(), where, inputs, labels), error.what()));
  } catch (const std::exception&) {  // a map of the program's own, or memory
    return error;
  }
}

Error with_blame(const Error& error, const Tuple& batch, std::size_t inputs, std::size_t labels) {
  const auto bad = error.code() == Code::not_finite ? describe_bad(batch, inputs, labels) : std::nullopt;
  if (!bad) return error;
  return Error(error.code(), fmt::format("{}: {}", sentence("this batch", *bad), error.what()));
}

}  // namespace actorflow
