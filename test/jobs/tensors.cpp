// Records as tensors: input of training, and of graphs that are applied to them.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/jobs/tensors/batches.h"
#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(tensors)

using namespace actorflow;
using test::numbers;
using test::small_parts;

namespace {

using Image = std::array<std::uint8_t, 784>;
const std::string mnist = ACTORFLOW_SOURCE_DIR "/apps/data/mnist/t10k-";

struct Digit {
  Image image;
  std::int64_t label;
};

std::vector<Tuple> all_of(const Dataset& dataset) {
  std::vector<Tuple> batches;
  try {
    for (DatasetIterator it(dataset);;) batches.push_back(it.next());
  } catch (const Error& error) {
    if (error.code() != Code::out_of_range) throw;
  }
  return batches;
}

}  // namespace

BOOST_AUTO_TEST_CASE(fields_of_records_are_columns_of_batches) {
  struct Mixed {
    float number;
    std::array<std::array<std::int32_t, 3>, 2> table;
    std::string text;
    std::pair<bool, std::vector<double>> inner;
  };
  Job job(small_parts());
  const auto mixed = job.from(numbers(7), 2).map([](std::int64_t n) {
    const auto i = static_cast<std::int32_t>(n);
    return Mixed{float(n), {{{i, i, i}, {7, 8, i}}}, std::to_string(n), {n % 2 == 0, {0.5, double(n)}}};
  });
  const auto batches = all_of(mixed.batch(4).dataset());
  BOOST_TEST(batches.size() == 2u);
  BOOST_TEST(describe(batches[0]) == "float32[4] int32[4,2,3] string[4] bool[4] float64[4,2]");
  BOOST_TEST(describe(batches[1]) == "float32[3] int32[3,2,3] string[3] bool[3] float64[3,2]");
  BOOST_TEST(batches[0][0].values<float>()[3] == 3.0F);
  BOOST_TEST(batches[1][1].values<std::int32_t>()[2 * 6 + 5] == 6);
  BOOST_TEST(batches[1][2].values<std::string>()[1] == "5");
  BOOST_TEST(batches[0][3].values<bool>()[2]);
  BOOST_TEST(batches[1][4].values<double>()[1] == 4.0);
  BOOST_TEST(all_of(mixed.batch(4).dataset({.drop_remainder = true})).size() == 1u);

  const auto uneven = job.from(numbers(3)).map([](std::int64_t n) {
    return std::vector<float>(static_cast<std::size_t>(n));
  });
  const Status status = test::status_of([&] { all_of(uneven.batch(3).dataset()); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message.find("a vector of 1 elements where the first one") != std::string::npos,
             status.message);
}

BOOST_AUTO_TEST_CASE(tensors_of_records_are_rows_of_batches_and_rows_are_tensors) {
  struct Sample {
    std::int64_t label;
    Tensor image;
    Tensor words;
  };
  Job job(small_parts());
  const auto samples = job.from(numbers(5), 2).map([](std::int64_t n) {
    return Sample{n, {{float(n), 1.0F}, {2.0F, float(-n)}}, {std::to_string(n), std::string(40, 'x')}};
  });
  const auto batches = all_of(samples.batch(3).dataset());
  BOOST_TEST(describe(batches.at(0)) == "int64[3] float32[3,2,2] string[3,2]");
  BOOST_TEST(batches[0][1].values<float>()[2 * 4 + 3] == -2.0F);
  BOOST_TEST(batches.at(1)[2].values<std::string>()[1 * 2] == "4");

  Graph g;
  const Output x = g.placeholder(DType::float32, {-1, 2, 2});
  const auto image = [](const Sample& sample) { return sample.image; };
  const auto doubled = samples.batch(3).map<Tensor>(GraphFunction({x}, {x * 2.0F}), image).collect();
  BOOST_TEST(doubled.size() == 5u);
  for (const auto& [sample, tensor] : doubled)
    BOOST_TEST(
        identical(tensor, Tensor{{float(2 * sample.label), 2.0F}, {4.0F, float(-2 * sample.label)}}));

  const auto uneven =
      job.from(numbers(3)).map([](std::int64_t n) { return Tensor::zeros(DType::float32, {n + 1}); });
  const Status status = test::status_of([&] { all_of(uneven.batch(3).dataset()); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(
      status.message.find("the tensor float32[2] where the first one of its block has float32[1]") !=
          std::string::npos,
      status.message);
  const auto none = job.from(numbers(3)).map([](std::int64_t) { return Tensor(); });
  const Status without = test::status_of([&] { all_of(none.batch(3).dataset()); });
  BOOST_TEST((without.code == Code::invalid_argument), without.to_string());
  BOOST_TEST(without.message.find("a Tensor without a value") != std::string::npos, without.message);
}

BOOST_AUTO_TEST_CASE(a_dataset_gives_the_records_in_order_in_each_pass_part_by_part) {
  Job job(small_parts());
  const auto computed = std::make_shared<std::atomic<int>>(0);
  const auto records = job.from(numbers(1000), 10)
                           .sort_by([](std::int64_t n) { return -n; })
                           .map([computed](std::int64_t n) {
                             ++*computed;
                             return n;
                           });
  const auto sorted = records.collect();
  *computed = 0;
  const Dataset dataset = records.batch(64).dataset().repeat(2);
  BOOST_TEST(*computed == 0);
  DatasetIterator it(dataset);
  BOOST_TEST(it.next()[0].values<std::int64_t>()[0] == 999);
  BOOST_TEST(*computed < 1000);  // not the parts behind
  it.skip_to(16);
  const Tuple again = it.next();  // of the second pass
  BOOST_TEST(again[0].values<std::int64_t>()[0] == 999);
  for (const int parallel : {1, 3, 100}) {
    std::vector<std::int64_t> all;
    for (const auto& batch : all_of(records.batch(64).dataset({.parallel = parallel}))) {
      const auto values = batch[0].values<std::int64_t>();
      all.insert(all.end(), values.begin(), values.end());
    }
    BOOST_TEST(all == sorted, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(what_a_function_throws_reaches_who_asks_for_a_batch) {
  Job job(small_parts());
  const auto records = job.from(numbers(10)).map([](std::int64_t n) {
    if (n == 7) throw std::out_of_range("seven");
    return n;
  });
  const Status status = test::status_of([&] { all_of(records.batch(2).dataset()); });
  BOOST_TEST(status.message.find("map at tensors.cpp:") != std::string::npos, status.message);
  BOOST_TEST(status.message.find("seven") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_graph_is_applied_to_records_in_batches) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {-1, 2}), factor = g.placeholder(DType::float32, {-1});
  const Variable w = g.variable("w", g.constant(Tensor::zeros(DType::float32, {2, 3})));
  const Output y = matmul(x, w) + 1.0F;
  const std::map<std::string, Tensor> values{{"w", Tensor::of<float>({2, 3}, {1, 2, 3, 10, 20, 30})}};
  const GraphFunction model({x, factor}, {y, factor * 2.0F}, values);
  Job job(small_parts());
  struct Fed {
    std::array<float, 2> x;
    float factor;
  };
  const auto records = job.from(numbers(100), 3);
  const auto rows =
      records.batch(8)
          .map<std::pair<std::array<float, 3>, float>>(model,
                                                       [](std::int64_t n) {
                                                         return Fed{{float(n), 1}, float(n)};
                                                       })
          .collect();
  BOOST_TEST(rows.size() == 100u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto n = static_cast<float>(i);
    BOOST_TEST(rows[i].first == static_cast<std::int64_t>(i));
    BOOST_TEST((rows[i].second.first == std::array<float, 3>{n + 11, 2 * n + 21, 3 * n + 31}));
    BOOST_TEST(rows[i].second.second == 2 * n);
  }

  const auto other = [](std::int64_t n) { return Fed{{float(n), 1}, 0}; };
  const Status status =
      test::status_of([&] { records.batch(8).map<std::array<double, 3>>(model, other).count(); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message.find("the record has 1 fields that are tensors, but there are 2 tensors") !=
                 std::string::npos,
             status.message);
  const GraphFunction first({x}, {y}, values);
  const Status type = test::status_of([&] {
    records.batch(8)
        .map<std::array<double, 3>>(first,
                                    [](std::int64_t n) {
                                      return std::array<float, 2>{float(n), 1};
                                    })
        .count();
  });
  BOOST_TEST(type.message.find("expected 8 rows of 3 elements of float64, got float32[8,3]") !=
                 std::string::npos,
             type.message);
  BOOST_TEST(type.message.find("batch_map at tensors.cpp") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_function_of_a_graph_says_what_it_lacks) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {-1, 2}, "x");
  const Variable w = g.variable("w", g.constant(Tensor::zeros(DType::float32, {2, 3})));
  const Output y = matmul(x, w);
  const Status without = test::status_of([&] { GraphFunction({x}, {y}); });
  BOOST_TEST((without.code == Code::not_found), without.to_string());
  BOOST_TEST(without.message.find("'w'") != std::string::npos);
  const Status other = test::status_of([&] {
    GraphFunction({x}, {y}, {{"w", Tensor::zeros(DType::float32, {3, 2})}});
  });
  BOOST_TEST(other.message.find("expected float32[2,3], got float32[3,2]") != std::string::npos,
             other.message);
  const std::map<std::string, Tensor> values{{"w", Tensor::zeros(DType::float32, {2, 3})}};
  const Status unfed = test::status_of([&] { GraphFunction({}, {y}, values); });
  BOOST_TEST(unfed.message.find("'x'") != std::string::npos, unfed.message);
  const Status effect =
      test::status_of([&] { GraphFunction({x}, {g.assign_add(w, g.constant(1.0F))}, values); });
  BOOST_TEST(!effect.ok());
}

// The server computes the batches, and runs the steps that take them, on the job's threads: one is
// enough.
BOOST_AUTO_TEST_CASE(a_server_in_the_runtime_of_a_job_takes_its_batches) {
  for (const std::size_t threads : {1, 2}) {
    Job job(small_parts(threads));
    const auto fives = job.from(numbers(1000), 7).map([](std::int64_t n) { return n % 5; });
    {
      Server server = Server::local(job.runtime());
      server.serve_input("fives", fives.batch(64).dataset().prefetch(2));
      Graph g;
      const Variable counts = g.variable("counts", g.constant(Tensor::zeros(DType::int64, {5})));
      const Output batch = iterator_get_next(g, "fives", {{DType::int64, {Shape::unknown}}})[0];
      const Output add = g.assign_add(counts, unsorted_segment_sum(ones_like(batch), batch, 5));
      Session session(server.target(), g);
      session.initialize_variables();
      BOOST_TEST(run_to_end_of_input(session, add) == 16);  // 15 of 64 records, and the rest
      for (const std::int64_t count : session.run(counts).values<std::int64_t>())
        BOOST_TEST(count == 200);
    }
    BOOST_TEST(fives.count() == 1000u);  // the job goes on when the server has ended
  }
}

// A job joins images and labels, shuffles them, trains a model, and applies it to other images.
BOOST_AUTO_TEST_CASE(digits_are_learned_from_a_job_and_told_by_another) {
  JobOptions options;
  options.threads = 2;
  options.partitions = 4;
  Job job(options);
  const auto digits =
      job.read_idx<Image>(mnist + "images-idx3-ubyte.gz")
          .zip_with_index()
          .join(job.read_idx<std::uint8_t>(mnist + "labels-idx1-ubyte.gz").zip_with_index())
          .map([](const auto& row) {
            return std::pair{row.first, Digit{row.second.first, row.second.second}};
          })
          .cache();
  const auto training =
      digits.filter([](const auto& digit) { return digit.first >= 2000; }).map([](const auto& digit) {
        return digit.second;
      });

  Server server = Server::local();
  server.serve_input("digits", training.batch(50).dataset().repeat(2).prefetch(2));
  Graph g;
  const auto batch = iterator_get_next(g, "digits", {{DType::uint8, {-1, 784}}, {DType::int64, {-1}}});
  const Variable w = g.variable("w", g.constant(Tensor::zeros(DType::float32, {784, 10})));
  const auto logits = [&](Output pixels) {
    return matmul(cast(pixels, DType::float32) * (1.0F / 255), w);
  };
  const Output loss = mean(softmax_cross_entropy(logits(batch[0]), batch[1]));
  const TrainOp step = minimize(g, loss, {w}, global_step(g), Adam{0.005});
  const Output pixels = g.placeholder(DType::uint8, {-1, 784});
  const Output told = argmax(logits(pixels), 1);
  Session session(server.target(), g);
  session.initialize_variables();
  std::int64_t steps = 0;
  const Status end = test::status_of([&] {
    while (true) steps = session.run(step).scalar<std::int64_t>();
  });
  BOOST_TEST((end.code == Code::out_of_range), end.to_string());
  BOOST_TEST(steps == 2 * 8000 / 50);

  const test::Folder folder;
  save_checkpoint(posix_storage(), folder.path(), {steps, {{"w", session.run(w)}}});
  const GraphFunction model({pixels}, {told},
                            load_latest_checkpoint(posix_storage(), folder.path())->tensors);
  const auto right = digits.filter([](const auto& digit) { return digit.first < 2000; })
                         .batch(64)
                         .map<std::int64_t>(model, [](const auto& digit) { return digit.second.image; })
                         .filter([](const auto& pair) { return pair.first.second.label == pair.second; })
                         .count();
  BOOST_TEST(right > 1600u);  // 80 %; guessing gives 10
}

BOOST_AUTO_TEST_SUITE_END()
