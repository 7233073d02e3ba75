#include "actors/models/logs/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace actorflow {
namespace {

// Metrics of one name, of several outputs, get the output's number.
std::string log_name(const std::vector<Metric>& metrics, std::size_t i) {
  for (std::size_t j = 0; j < metrics.size(); ++j)
    if (j != i && metrics[j].name == metrics[i].name)
      return fmt::format("{}_{}", metrics[i].name, metrics[i].output);
  return metrics[i].name;
}

}  // namespace

std::vector<std::string> log_names(const std::vector<Metric>& metrics) {
  std::vector<std::string> names{"loss"};
  for (std::size_t i = 0; i < metrics.size(); ++i) names.push_back(log_name(metrics, i));
  return names;
}

double number(const Tensor& value, std::size_t i) {
  return value.dtype() == DType::float64 ? value.values<double>()[i]
                                         : static_cast<double>(value.values<float>()[i]);
}

void Totals::add(std::span<const Tensor> values, std::int64_t examples) {
  const auto count = static_cast<double>(examples);
  examples_ += count;
  loss_ += number(values[0], 0) * count;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const Tensor& value = values[i + 1];
    sums_[i].resize(static_cast<std::size_t>(value.elements()));
    const double times = metrics_[i].result ? 1 : count;
    for (std::size_t k = 0; k < sums_[i].size(); ++k) sums_[i][k] += number(value, k) * times;
  }
}

void Totals::add_sums(std::span<const double> sums, std::span<const Tensor> like) {
  examples_ += sums[0];
  loss_ += sums[1];
  std::size_t next = 2;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    sums_[i].resize(static_cast<std::size_t>(like[i + 1].elements()));
    for (double& sum : sums_[i]) sum += sums[next++];
  }
}

std::map<std::string, Tensor> Totals::sums() const {
  if (examples_ == 0) return {};
  const auto names = log_names(metrics_);
  std::map<std::string, Tensor> sums{{names[0], Tensor::of<double>({2}, {loss_, examples_})}};
  for (std::size_t i = 0; i < sums_.size(); ++i)
    sums[names[i + 1]] = Tensor::of<double>({std::ssize(sums_[i])}, sums_[i]);
  return sums;
}

void Totals::add_sums(const std::map<std::string, Tensor>& sums) {
  const auto names = log_names(metrics_);
  const auto is_there = [&sums](const std::string& name) { return sums.contains(name); };
  if (sums.size() != names.size() || !std::ranges::all_of(names, is_there)) return;
  loss_ += number(sums.at(names[0]), 0);
  examples_ += number(sums.at(names[0]), 1);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const auto values = sums.at(names[i + 1]).values<double>();
    sums_[i].resize(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) sums_[i][k] += values[k];
  }
}

void Totals::clear() {
  loss_ = examples_ = 0;
  for (auto& sum : sums_) sum.clear();
}

void Totals::write_to(Logs& logs) const {
  if (examples_ == 0) return;
  logs.set("loss", loss_ / examples_);
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    logs.set(log_name(metrics_, i),
             metrics_[i].result ? metrics_[i].result(sums_[i]) : sums_[i].at(0) / examples_);
}

}  // namespace actorflow
