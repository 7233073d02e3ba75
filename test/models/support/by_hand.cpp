#include "test/models/support/by_hand.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "dataflow/train/replicate.h"
#include "kernels/ops.h"

namespace actorflow::test {
namespace {

Tensor rows(const Tensor& all, std::int64_t first, std::int64_t count) {
  Shape shape = all.shape();
  const std::int64_t each = all.elements() / shape[0];
  Shape wanted{count};
  for (int i = 1; i < shape.rank(); ++i) wanted.push_back(shape[i]);
  const auto values = all.values<float>().subspan(static_cast<std::size_t>(first * each),
                                                  static_cast<std::size_t>(count * each));
  return Tensor::of<float>(wanted, {values.begin(), values.end()});
}

Output batch_of_rows(Graph& graph, const Tensor& like) {
  Shape shape{Shape::unknown};
  for (int i = 1; i < like.shape().rank(); ++i) shape.push_back(like.shape()[i]);
  return graph.placeholder(like.dtype(), shape);
}

class ByHand {
 public:
  ByHand(const Architecture& architecture, const CompileOptions& options, const Tensor& x,
         const Tensor& y)
      : x_(batch_of_rows(graph_, x)),
        y_(batch_of_rows(graph_, y)),
        share_(graph_.placeholder(DType::float32, {})),
        number_(graph_.placeholder(DType::int64, {})) {
    pass_.seed = options.seed;
    const Output predicted = architecture.build(pass_, {x_})[0];
    Output costs = options.loss.list()[0].of(predicted, y_);
    if (costs.shape().rank() == 2) costs = mean(costs, {1});
    const Output loss = sum(costs * ones_like(costs)) / share_;
    computed_ = compute_gradients(loss, variables_.trained());
    std::vector<GradientAndVariable> fed;
    for (const auto& [gradient, variable] : computed_) {
      fed_.push_back(graph_.placeholder(gradient.dtype(), variable.type().shape));
      fed.push_back({fed_.back(), variable});
    }
    step_ = apply_gradients(graph_, fed, global_step(graph_), options.optimizer);
    session_.emplace(graph_);
    session_->initialize_variables();
  }

  // A micro-batch of a step that `share` examples have together.
  void add(const Tensor& x, const Tensor& y, std::int64_t share, std::int64_t number) {
    std::vector<Output> fetches;
    for (const auto& each : computed_) fetches.push_back(each.gradient);
    const auto gradients = session_->run(fetches,
                                         {{x_, x},
                                          {y_, y},
                                          {share_, Tensor::scalar(static_cast<float>(share))},
                                          {number_, Tensor::scalar(number)}},
                                         pass_.updates);
    if (sums_.empty()) {
      for (const Tensor& gradient : gradients) sums_.push_back(gradient.clone());
      return;
    }
    for (std::size_t i = 0; i < sums_.size(); ++i)
      std::ranges::transform(sums_[i].values<float>(), gradients[i].values<float>(),
                             sums_[i].mutable_values<float>().begin(), std::plus());
  }

  void apply() {
    Feeds feeds;
    for (std::size_t i = 0; i < fed_.size(); ++i) feeds.emplace_back(fed_[i], sums_[i]);
    session_->run(step_.step, feeds);
    sums_.clear();
  }

  std::map<std::string, Tensor> weights() {
    std::map<std::string, Tensor> weights;
    for (const Variable& variable : variables_.all()) weights[variable.name()] = session_->run(variable);
    return weights;
  }

 private:
  Graph graph_;
  ModelVariables variables_;
  Output x_, y_, share_, number_;
  ModelPass pass_{.graph = graph_, .variables = variables_, .training = true, .step = number_};
  std::vector<GradientAndVariable> computed_;
  std::vector<Output> fed_;
  TrainOp step_;
  std::optional<Session> session_;
  std::vector<Tensor> sums_;
};

}  // namespace

std::map<std::string, Tensor> train_by_hand(const Architecture& architecture,
                                            const CompileOptions& options, const Tensor& x,
                                            const Tensor& y, int epochs, std::int64_t batch_size,
                                            std::int64_t parts) {
  ByHand training(architecture, options, x, y);
  const std::int64_t examples = x.shape()[0], size = batch_size / parts;
  std::int64_t step = 0;
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (std::int64_t begin = 0; begin < examples; begin += batch_size, ++step) {
      const std::int64_t end = std::min(examples, begin + batch_size);
      for (std::int64_t first = begin, part = 0; first < end; first += size, ++part) {
        const std::int64_t count = std::min(size, end - first);
        training.add(rows(x, first, count), rows(y, first, count), end - begin, step * parts + part);
      }
      training.apply();
    }
  return training.weights();
}

}  // namespace actorflow::test
