// Optimizers as plain values, which graphs carry to the parameter shards that apply gradients. The
// formulas are in kernels/update/; a program may bring optimizers of its own
// (kernels/update/optimizer_rule.h).
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

// A struct that describes an optimizer. Its name; its hyperparameters, which are its members of type
// double, in the order in which they are sent, the learning rate first; and the names of its slots, the
// tensors that it keeps beside a variable's value. A slot has the variable's type and begins as
// initial_slot(name), or as 0 if there is no such member function; a last slot "step" is an int64 scalar
// that counts the updates.
template <class O>
concept DescribedOptimizer = requires(O o) {
  { O::name } -> std::convertible_to<std::string_view>;
  { o.*(O::fields()[0]) } -> std::convertible_to<double>;
  { O::slots.size() } -> std::convertible_to<std::size_t>;
};

using NoSlots = std::array<std::string_view, 0>;
template <std::size_t count>
using SlotNames = std::array<std::string_view, count>;

struct Sgd {
  static constexpr std::string_view name = "sgd";
  static constexpr NoSlots slots = {};
  double learning_rate = 0.01;

  static constexpr auto fields() { return std::array{&Sgd::learning_rate}; }
};

struct Momentum {
  static constexpr std::string_view name = "momentum";
  static constexpr SlotNames<1> slots = {"momentum"};
  double learning_rate = 0.01;
  double momentum = 0.9;

  static constexpr auto fields() { return std::array{&Momentum::learning_rate, &Momentum::momentum}; }
};

struct Nesterov {  // Sutskever et al. 2013, as TensorFlow's MomentumOptimizer(use_nesterov=True)
  static constexpr std::string_view name = "nesterov";
  static constexpr SlotNames<1> slots = {"momentum"};
  double learning_rate = 0.01;
  double momentum = 0.9;

  static constexpr auto fields() { return std::array{&Nesterov::learning_rate, &Nesterov::momentum}; }
  bool operator==(const Nesterov&) const = default;
};

struct Adagrad {  // Duchi et al. 2011
  static constexpr std::string_view name = "adagrad";
  static constexpr SlotNames<1> slots = {"accumulator"};
  double learning_rate = 0.01;
  double initial_accumulator = 0.1;

  static constexpr auto fields() {
    return std::array{&Adagrad::learning_rate, &Adagrad::initial_accumulator};
  }
  double initial_slot(std::string_view) const { return initial_accumulator; }
};

struct Adam {  // Kingma and Ba 2015, end of section 2: epsilon is their "epsilon hat", as TensorFlow's
  static constexpr std::string_view name = "adam";
  static constexpr SlotNames<3> slots = {"m", "v", "step"};
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  static constexpr auto fields() {
    return std::array{&Adam::learning_rate, &Adam::beta1, &Adam::beta2, &Adam::epsilon};
  }
};

struct RmsProp {  // Tieleman and Hinton 2012; epsilon is inside the root
  static constexpr std::string_view name = "rmsprop";
  static constexpr SlotNames<2> slots = {"mean_square", "momentum"};
  double learning_rate = 0.001;
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;

  static constexpr auto fields() {
    return std::array{&RmsProp::learning_rate, &RmsProp::decay, &RmsProp::momentum, &RmsProp::epsilon};
  }
  double initial_slot(std::string_view slot) const { return slot == "mean_square" ? 1 : 0; }
};

struct AdamW {  // Loshchilov and Hutter 2019; epsilon beside the corrected root, as PyTorch's
  static constexpr std::string_view name = "adamw";
  static constexpr SlotNames<3> slots = {"m", "v", "step"};
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  // of the value, times the learning rate

  static constexpr auto fields() {
    return std::array{&AdamW::learning_rate, &AdamW::beta1, &AdamW::beta2, &AdamW::epsilon,
                      &AdamW::weight_decay};
  }
};

struct Lion {  // Chen et al., Symbolic Discovery of Optimization Algorithms, 2023, algorithm 2
  static constexpr std::string_view name = "lion";
  static constexpr SlotNames<1> slots = {"m"};
  double learning_rate = 0.0001;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;

  static constexpr auto fields() {
    return std::array{&Lion::learning_rate, &Lion::beta1, &Lion::beta2, &Lion::weight_decay};
  }
};

struct Ftrl {  // McMahan et al., Ad Click Prediction, 2013, algorithm 1, as TensorFlow's FtrlOptimizer
  static constexpr std::string_view name = "ftrl";
  static constexpr SlotNames<2> slots = {"accumulator", "linear"};
  double learning_rate = 0.001;
  double initial_accumulator = 0.1;
  double l1 = 0;
  double l2 = 0;

  static constexpr auto fields() {
    return std::array{&Ftrl::learning_rate, &Ftrl::initial_accumulator, &Ftrl::l1, &Ftrl::l2};
  }
  double initial_slot(std::string_view slot) const {
    return slot == "accumulator" ? initial_accumulator : 0;
  }
};

struct Lamb {  // You et al., Large Batch Optimization for Deep Learning, 2020, algorithm 2
  static constexpr std::string_view name = "lamb";
  static constexpr SlotNames<3> slots = {"m", "v", "step"};
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0;

  static constexpr auto fields() {
    return std::array{&Lamb::learning_rate, &Lamb::beta1, &Lamb::beta2, &Lamb::epsilon,
                      &Lamb::weight_decay};
  }
};

// Jordan et al., Muon: An optimizer for hidden layers in neural networks, 2024: the Nesterov momentum of
// a matrix, made nearly orthogonal by five steps of Newton and Schulz. Takes matrices [in, out] and
// filters [height, width, in, out], as the matrix [height width in, out], and nothing else: see
// muon_for_matrices() in dataflow/train/optimizer_choice.h.
struct Muon {
  static constexpr std::string_view name = "muon";
  static constexpr SlotNames<1> slots = {"momentum"};
  double learning_rate = 0.02;
  double momentum = 0.95;
  double weight_decay = 0;  // of the value, times the learning rate

  static constexpr auto fields() {
    return std::array{&Muon::learning_rate, &Muon::momentum, &Muon::weight_decay};
  }
};

// An optimizer's name and its hyperparameters in the order of O::fields(), the learning rate first.
class Optimizer {
 public:
  // Throws invalid_argument for an empty name, no hyperparameters, values that are not finite, and a
  // negative learning rate.
  Optimizer(std::string name, std::vector<double> hyperparameters);
  template <DescribedOptimizer O>
  Optimizer(const O& o) : Optimizer(std::string(O::name), values_of(o)) {}  // NOLINT: implicit

  const std::string& name() const { return name_; }
  const std::vector<double>& hyperparameters() const { return hyperparameters_; }

  bool operator==(const Optimizer&) const = default;

 private:
  template <class O>
  static std::vector<double> values_of(const O& o) {
    std::vector<double> values;
    for (auto field : O::fields()) values.push_back(o.*field);
    return values;
  }

  std::string name_;
  std::vector<double> hyperparameters_;
};

// Throws invalid_argument, naming the optimizer, unless `actual` is the expected number.
void expect_hyperparameters(std::string_view optimizer, std::size_t expected, std::size_t actual);
// The struct with these hyperparameters. Throws as expect_hyperparameters().
template <DescribedOptimizer O>
O described(std::span<const double> hyperparameters) {
  O o;
  expect_hyperparameters(O::name, O::fields().size(), hyperparameters.size());
  for (std::size_t i = 0; i < hyperparameters.size(); ++i) o.*(O::fields()[i]) = hyperparameters[i];
  return o;
}

// The built-in optimizer of that name with its default values. Throws invalid_argument that lists the
// names.
Optimizer make_optimizer(std::string_view name, double learning_rate);
// "sgd, momentum, ...": the names of the built-in optimizers.
std::string optimizer_names();
// The optimizer with another learning rate.
Optimizer with_learning_rate(const Optimizer& optimizer, double learning_rate);
// The optimizer that a graph carries as a name and hyperparameters. Throws as Optimizer's constructor,
// and invalid_argument if a built-in optimizer has another number of hyperparameters. A name that is not
// built in is looked up later, by the task that applies the optimizer.
Optimizer parse_optimizer(std::string_view name, std::span<const double> hyperparameters);

}  // namespace actorflow
