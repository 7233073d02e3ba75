#include "actors/models/logs/logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

namespace actorflow {

void Logs::set(std::string_view name, double value) {
  for (auto& [known, old] : values_)
    if (known == name) {
      old = value;
      return;
    }
  values_.emplace_back(name, value);
}

std::optional<double> Logs::find(std::string_view name) const {
  for (const auto& [known, value] : values_)
    if (known == name) return value;
  return std::nullopt;
}

double Logs::at(std::string_view name) const {
  if (const auto value = find(name)) return *value;
  throw Error(Code::not_found, fmt::format("'{}' was not measured, but: {}", name, names()));
}

std::string Logs::names() const { return joined(std::views::keys(values_), ", "); }

std::vector<double> History::of(std::string_view name) const {
  if (logs.empty())
    throw Error(Code::not_found,
                fmt::format("'{}' was not measured: fit() has ended no epoch in this task; the chief "
                            "alone has the history",
                            name));
  std::vector<double> values;
  for (const Logs& log : logs) values.push_back(log.find(name).value_or(std::nan("")));
  const auto missing = [](double value) { return std::isnan(value); };
  if (std::ranges::all_of(values, missing) && !logs.back().find(name)) logs.back().at(name);
  return values;
}

}  // namespace actorflow
