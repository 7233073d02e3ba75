#include "dataflow/ops/optimizer.h"

#include <array>
#include <cmath>
#include <string>
#include <type_traits>

#include "dataflow/values/error.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

using Slots = std::vector<std::string_view>;

// One row per optimizer: adding one is a struct in the header and a row here.
template <class T>
struct Traits;
template <>
struct Traits<Sgd> {
  static constexpr std::string_view name = "sgd";
  static constexpr std::array fields = {&Sgd::learning_rate};
  static Slots slots(const Sgd&) { return {}; }
};
template <>
struct Traits<Momentum> {
  static constexpr std::string_view name = "momentum";
  static constexpr std::array fields = {&Momentum::learning_rate, &Momentum::momentum};
  static Slots slots(const Momentum&) { return {"momentum"}; }
};
template <>
struct Traits<Nesterov> {
  static constexpr std::string_view name = "nesterov";
  static constexpr std::array fields = {&Nesterov::learning_rate, &Nesterov::momentum};
  static Slots slots(const Nesterov&) { return {"momentum"}; }
};
template <>
struct Traits<Adagrad> {
  static constexpr std::string_view name = "adagrad";
  static constexpr std::array fields = {&Adagrad::learning_rate, &Adagrad::initial_accumulator};
  static Slots slots(const Adagrad&) { return {"accumulator"}; }
};
template <>
struct Traits<Adam> {
  static constexpr std::string_view name = "adam";
  static constexpr std::array fields = {&Adam::learning_rate, &Adam::beta1, &Adam::beta2,
                                        &Adam::epsilon};
  static Slots slots(const Adam&) { return {"m", "v", "step"}; }
};
template <>
struct Traits<RmsProp> {
  static constexpr std::string_view name = "rmsprop";
  static constexpr std::array fields = {&RmsProp::learning_rate, &RmsProp::decay, &RmsProp::momentum,
                                        &RmsProp::epsilon};
  static Slots slots(const RmsProp&) { return {"mean_square", "momentum"}; }
};

template <class T>
using TraitsOf = Traits<std::remove_cvref_t<T>>;

template <std::size_t... i>
std::array<Optimizer, sizeof...(i)> all_optimizers(std::index_sequence<i...>) {
  return {std::variant_alternative_t<i, Optimizer>{}...};
}

Optimizer default_optimizer(std::string_view name) {
  const auto all = all_optimizers(std::make_index_sequence<std::variant_size_v<Optimizer>>());
  std::vector<std::string_view> known;
  std::string list;
  for (const auto& optimizer : all) {
    if (optimizer_name(optimizer) == name) return optimizer;
    known.push_back(optimizer_name(optimizer));
    list += (list.empty() ? "" : ", ") + std::string(known.back());
  }
  throw invalid_argument("unknown optimizer '" + std::string(name) + "'; expected one of " + list +
                         did_you_mean(name, known));
}

template <class T>
void set_fields(T& optimizer, std::span<const double> values) {
  const auto& fields = Traits<T>::fields;
  const std::string name(Traits<T>::name);
  if (values.size() != fields.size())
    throw invalid_argument("optimizer '" + name + "' has " + std::to_string(fields.size()) +
                           " hyperparameters, got " + std::to_string(values.size()));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!std::isfinite(values[i]))
      throw invalid_argument("hyperparameter " + std::to_string(i) + " of optimizer '" + name +
                             "' must be finite, got " + std::to_string(values[i]));
    optimizer.*fields[i] = values[i];
  }
}

}  // namespace

std::string_view optimizer_name(const Optimizer& optimizer) {
  return std::visit([](const auto& o) { return TraitsOf<decltype(o)>::name; }, optimizer);
}

std::vector<double> hyperparameters(const Optimizer& optimizer) {
  return std::visit(
      [](const auto& o) {
        std::vector<double> values;
        for (auto field : TraitsOf<decltype(o)>::fields) values.push_back(o.*field);
        return values;
      },
      optimizer);
}

std::vector<std::string_view> slot_names(const Optimizer& optimizer) {
  return std::visit([](const auto& o) { return TraitsOf<decltype(o)>::slots(o); }, optimizer);
}

Optimizer make_optimizer(std::string_view name, double learning_rate) {
  auto values = hyperparameters(default_optimizer(name));
  values[0] = learning_rate;
  return parse_optimizer(name, values);
}

Optimizer with_learning_rate(Optimizer optimizer, double learning_rate) {
  std::visit([learning_rate](auto& o) { o.learning_rate = learning_rate; }, optimizer);
  return optimizer;
}

Optimizer parse_optimizer(std::string_view name, std::span<const double> values) {
  Optimizer optimizer = default_optimizer(name);
  std::visit([values](auto& o) { set_fields(o, values); }, optimizer);
  return optimizer;
}

}  // namespace actorflow
