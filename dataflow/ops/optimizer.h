// Optimizers as plain values, which graphs carry to the parameter shards that apply gradients. The
// formulas are in kernels/update/optimizer_update.h.
#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace actorflow {

// The optimizers. Their fields are the hyperparameters, in the order in which they are sent.
struct Sgd {
  double learning_rate = 0.01;
};
struct Momentum {
  double learning_rate = 0.01;
  double momentum = 0.9;
};
struct Nesterov {  // Sutskever et al. 2013, as TensorFlow's MomentumOptimizer(use_nesterov=True)
  double learning_rate = 0.01;
  double momentum = 0.9;
};
struct Adagrad {  // Duchi et al. 2011
  double learning_rate = 0.01;
  double initial_accumulator = 0.1;
};
struct Adam {  // Kingma and Ba 2015, end of section 2: epsilon is their "epsilon hat", as TensorFlow's
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};
struct RmsProp {  // Tieleman and Hinton 2012; epsilon is inside the root
  double learning_rate = 0.001;
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;
};

using Optimizer = std::variant<Sgd, Momentum, Nesterov, Adagrad, Adam, RmsProp>;

// The name: "sgd", "momentum", "nesterov", "adagrad", "adam" or "rmsprop".
std::string_view optimizer_name(const Optimizer& optimizer);
// The values of its fields in the order of their declaration; the first is the learning rate.
std::vector<double> hyperparameters(const Optimizer& optimizer);
// The names of the slots, the tensors that an optimizer keeps beside a variable's value: sgd none,
// momentum and nesterov {"momentum"}, adagrad {"accumulator"}, adam {"m", "v", "step"}, rmsprop
// {"mean_square", "momentum"}. All slots have the variable's type, except "step", an int64 scalar.
std::vector<std::string_view> slot_names(const Optimizer& optimizer);

// The optimizer of that name with its default values. Throws invalid_argument that lists the names.
Optimizer make_optimizer(std::string_view name, double learning_rate);
// The optimizer with another learning rate.
Optimizer with_learning_rate(Optimizer optimizer, double learning_rate);
// The inverse of optimizer_name() and hyperparameters(). Throws invalid_argument for an unknown name, a
// wrong number of values and values that are not finite.
Optimizer parse_optimizer(std::string_view name, std::span<const double> hyperparameters);

}  // namespace actorflow
