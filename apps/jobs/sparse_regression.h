// Logistic regression of sparse examples: a job makes batches of them, and steps change the rows of the
// weights, on a parameter shard, that a batch has features of. Lines "label feature feature ...", with
// labels 0 and 1 and features from 1 on; the result is a row for each weight, from that of feature 0 on,
// which no example has.
#pragma once

#include "apps/jobs/local_server.h"

namespace actorflow {

// Of an example: further ones do not count, missing ones are 0.
inline constexpr std::int64_t most_features = 256;

struct SparseExample {
  std::int64_t label = 0;
  std::array<std::int64_t, most_features> features{};
};

inline SparseExample sparse_example(std::vector<std::int64_t> numbers) {
  numbers.resize(most_features + 1);
  SparseExample example{numbers[0]};
  std::copy(numbers.begin() + 1, numbers.end(), example.features.begin());
  return example;
}

inline void sparse_regression(Job& job) {
  Server server = local_server(job, "sparse_regression");
  const std::string input = job.param("input"), output = job.param("output");
  const auto examples = job.read_csv<std::vector<std::int64_t>>(input).map(sparse_example);
  const auto epochs = job.count_param("epochs", 1), features = job.count_param("features", 784);
  const double rate = job.rate_param("rate", 0.1);
  server.serve_input("examples", examples.batch(64).dataset().repeat(epochs).prefetch(2));

  Graph g;
  const Variable w = g.variable("w", g.constant(Tensor::zeros(DType::float32, {features + 1, 1})));
  const auto batch =
      iterator_get_next(g, "examples", {{DType::int64, {-1}}, {DType::int64, {-1, most_features}}});
  const Output there = cast(not_equal(batch[1], zeros_like(batch[1])), DType::float32);
  const Output sums =
      sum(reshape(embedding_lookup(w, batch[1]), {-1, most_features}) * there, {1}, true);
  const Output loss = mean(softmax_cross_entropy(concat({zeros_like(sums), sums}, 1), batch[0]));
  const TrainOp step = minimize(g, loss, {w}, global_step(g), Sgd{rate});
  Session session(server.target(), g);
  session.initialize_variables();
  run_to_end_of_input(session, step);
  job.from(session.run(w).values<float>()).write_csv(output);
}

}  // namespace actorflow
