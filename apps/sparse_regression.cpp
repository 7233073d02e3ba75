// Logistic regression of sparse examples: a job makes batches of them, and steps change the rows of the
// weights, on a parameter shard, that a batch has features of. Lines "label feature feature ...", with
// labels 0 and 1 and features from 1 on; the result is a row for each weight, from that of feature 0 on,
// which no example has. One process, as the weights are its own.
//
//   sparse_regression --input examples.txt --output weights --features 784 --rate 0.1 --epochs 2
#include "actors/actorflow.h"
#include "actors/jobs/job.h"
#include "actors/jobs/tensors/batches.h"
#include "apps/jobs/one_process.h"
#include "apps/training/end_of_input.h"

using namespace actorflow;

namespace {

constexpr std::int64_t most = 256;  // features of an example: further ones do not count, missing are 0

struct Example {
  std::int64_t label = 0;
  std::array<std::int64_t, most> features{};
};

Example parse(std::vector<std::int64_t> numbers) {
  numbers.resize(most + 1);
  Example example{numbers[0]};
  std::copy(numbers.begin() + 1, numbers.end(), example.features.begin());
  return example;
}

void learn(Job& job) {
  expect_one_process(job, "sparse_regression");
  const auto examples = job.read_csv<std::vector<std::int64_t>>(job.param("input")).map(parse);
  const auto epochs = job.count_param("epochs", 1), features = job.count_param("features", 784);
  const double rate = job.param("rate", 0.1);
  Server server = Server::local();
  server.serve_input("examples", examples.batch(64).dataset().repeat(epochs).prefetch(2));

  Graph g;
  const Variable w = g.variable("w", g.constant(Tensor::zeros(DType::float32, {features + 1, 1})));
  const auto batch =
      iterator_get_next(g, "examples", {{DType::int64, {-1}}, {DType::int64, {-1, most}}});
  const Output there = cast(not_equal(batch[1], zeros_like(batch[1])), DType::float32);
  const Output sums = sum(reshape(embedding_lookup(w, batch[1]), {-1, most}) * there, {1}, true);
  const Output loss = mean(softmax_cross_entropy(concat({zeros_like(sums), sums}, 1), batch[0]));
  const TrainOp step = minimize(g, loss, {w}, global_step(g), Sgd{rate});
  Session session(server.target(), g);
  session.initialize_variables();
  run_to_end_of_input(session, step);
  job.from(session.run(w).values<float>()).write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"sparse_regression", learn}}); }
