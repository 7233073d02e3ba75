// Tensors and Cap'n Proto messages as what jobs compute with.
#include <boost/test/unit_test.hpp>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/jobs/run_job.h"
#include "actors/task/server.h"
#include "schema/formats/data_writer.h"
#include "schema/records/capnp_record.h"
#include "test/jobs/support/test_job.h"
#include "test/support/order.capnp.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(own_records)

using namespace actorflow;
using test::numbers;
using test::Order;
using test::small_parts;
using OrderRecord = CapnpRecord<Order>;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Of 3 elements, whose sums are exact.
Tensor tensor_of(std::int64_t n) { return Tensor{float(n), float(-n), 1.0F}; }

void add(Tensor& state, const Tensor& value) {
  if (!state.exclusive()) state = state.clone();
  const auto summands = value.values<float>();
  auto sums = state.mutable_values<float>();
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += summands[i];
}

OrderRecord order_of(std::int64_t n, const std::string& customer = "somebody", double price = 0.5) {
  capnp::MallocMessageBuilder message;
  auto order = message.initRoot<Order>();
  order.setNumber(static_cast<std::uint64_t>(n));
  order.setCustomer(customer);
  order.initItems(1)[0].setPrice(price);
  return OrderRecord(message.getRoot<Order>());
}

double price_of(const OrderRecord& order) { return order.reader().getItems()[0].getPrice(); }

struct ToText final : ByteSink {
  explicit ToText(std::string& to) : text(to) {}
  void write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void finish() override {}
  std::string& text;
};

struct Example {
  std::int64_t number;
  Tensor features;
  OrderRecord order;
  std::optional<Tensor> mask;
};

Example example_of(std::int64_t n) {
  return {n, tensor_of(n), order_of(n),
          n % 3 == 0 ? std::optional(Tensor{true, n % 2 == 0}) : std::nullopt};
}

// Throws unless it is the one of its number.
std::int64_t checked(const Example& example) {
  const Example expected = example_of(example.number);
  if (!identical(example.features, expected.features) || example.order != expected.order ||
      example.mask.has_value() != expected.mask.has_value() ||
      (example.mask && !identical(*example.mask, *expected.mask)))
    throw std::logic_error("example " + std::to_string(example.number) + " is another one");
  return example.number;
}

// Sums by key, of which each task of a cluster has some.
void sums_by_key(Job& job) {
  job.from(numbers(500), 10)
      .map([](std::int64_t n) {
        return std::pair{n % 7, example_of(n)};
      })
      .group_by_key([](std::int64_t key, auto& examples) {
        std::pair<std::int64_t, Tensor> sum{key, tensor_of(0)};
        for (const auto& example : examples) {
          checked(example);
          add(sum.second, example.features);
        }
        return sum;
      })
      .cache()
      .sort_by([](const auto& sum) { return -sum.first; })
      .map([](const auto& sum) {
        return std::pair{sum.first, std::vector<float>{sum.second.template values<float>().begin(),
                                                       sum.second.template values<float>().end()}};
      })
      .write_csv(job.param("output"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(tensors_are_reduced_by_key) {
  std::map<std::int64_t, Tensor> expected;
  for (const std::int64_t n : numbers(1000)) {
    auto& sum = expected.try_emplace(n % 7, Tensor::zeros(DType::float32, {3})).first->second;
    add(sum, tensor_of(n));
  }
  Job job(small_parts());
  const auto pairs = job.from(numbers(1000), 10).map([](std::int64_t n) {
    return std::pair{n % 7, tensor_of(n)};
  });
  const auto in_place = pairs.reduce_by_key(add).collect();
  const auto folded = pairs.fold_by_key(Tensor::zeros(DType::float32, {3}), add, add).collect();
  BOOST_TEST(in_place.size() == 7u);
  BOOST_TEST(folded.size() == 7u);
  for (const auto& [key, sum] : in_place) BOOST_TEST(identical(sum, expected.at(key)), key);
  for (const auto& [key, sum] : folded) BOOST_TEST(identical(sum, expected.at(key)), key);
  const auto all = pairs.map([](auto pair) { return std::move(pair.second); }).reduce(add);
  BOOST_TEST(all->values<float>()[2] == 1000.0F);
}

BOOST_AUTO_TEST_CASE(records_with_tensors_and_messages_go_through_every_operator) {
  JobOptions options = small_parts();
  options.records_on_disk = true;
  Job job(options);
  const auto examples = job.from(numbers(300), 7).map(example_of).cache();
  const auto by_key = examples.key_by([](const Example& example) { return example.number % 10; });
  BOOST_TEST(examples.count() == 300u);
  std::int64_t next = 299;
  const auto is_later = [](const Example& example) { return -example.number; };
  for (const auto& example : examples.sort_by(is_later).collect())
    BOOST_TEST(checked(example) == next--);
  const auto groups = by_key.group_by_key().collect();
  BOOST_TEST(groups.size() == 10u);
  for (const auto& [key, group] : groups) {
    BOOST_TEST(group.size() == 30u);
    for (std::size_t i = 0; i < group.size(); ++i)
      BOOST_TEST(checked(group[i]) == key + 10 * static_cast<std::int64_t>(i));
  }
  const auto joined = by_key.filter([](const auto& pair) { return pair.second.number < 10; })
                          .left_join(by_key)
                          .collect();
  BOOST_TEST(joined.size() == 300u);
  for (const auto& [key, pair] : joined)
    BOOST_TEST((checked(pair.first) == key && checked(*pair.second) % 10 == key));
  for (const auto& example : examples.sample(20, 1).collect()) checked(example);
  BOOST_TEST(checked(examples.top(1, &Example::number).collect().at(0)) == 299);
  BOOST_TEST(examples.union_with(examples).partition_by(&Example::number, 3).count() == 600u);
}

BOOST_AUTO_TEST_CASE(messages_are_reduced_and_sorted) {
  Job job(small_parts());
  const auto orders = job.from(numbers(400), 9).map([](std::int64_t n) {
    return order_of(n, "customer " + std::to_string(n % 4), double(n));
  });
  const auto dearest = orders
                           .key_by([](const OrderRecord& order) {
                             return std::string(order.reader().getCustomer().cStr());
                           })
                           .reduce_by_key([](const OrderRecord& a, const OrderRecord& b) {
                             return price_of(a) < price_of(b) ? b : a;
                           })
                           .sort_by([](const auto& pair) { return pair.first; })
                           .collect();
  BOOST_TEST(dearest.size() == 4u);
  for (std::size_t i = 0; i < dearest.size(); ++i) {
    BOOST_TEST(dearest[i].first == "customer " + std::to_string(i));
    BOOST_TEST(dearest[i].second.reader().getNumber() == 396 + i);
  }
}

BOOST_AUTO_TEST_CASE(messages_of_files_are_read) {
  const test::Folder folder;
  const std::string path = folder.file("orders.tfrecord");
  std::string file;
  DataWriter writer(std::make_unique<ToText>(file));
  for (const std::int64_t n : numbers(100)) writer.write_tfrecord(order_of(n).bytes());
  writer.finish();
  test::write_file(path, file);
  Job job(small_parts());
  const auto read =
      job.read_tfrecords(path).map([](std::string_view bytes) { return OrderRecord::of_bytes(bytes); });
  const auto orders = read.collect();
  BOOST_TEST(orders.size() == 100u);
  for (std::size_t i = 0; i < orders.size(); ++i) BOOST_TEST(orders[i].reader().getNumber() == i);

  const auto damaged = job.from(std::vector<std::string>{std::string(24, '\xff')});
  const Status status = test::status_of([&] {
    damaged.map([](const std::string& bytes) { return OrderRecord::of_bytes(bytes); }).count();
  });
  BOOST_TEST(status.message.find("expected a Cap'n Proto message in 24 bytes") != std::string::npos,
             status.message);
}

// 72 MB of values, of which a part of this job may hold 48. The chunks before it fit into memory.
BOOST_AUTO_TEST_CASE(tensors_that_do_not_fit_into_memory_go_to_disk) {
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = 256 * mib;
  options.partitions = 1;
  const auto tensors = [](const Job& job) {
    return job.from(numbers(60), 6).flat_map([](std::int64_t seed) {
      return std::views::iota(std::int64_t{0}, std::int64_t{2'000}) |
             std::views::transform([seed](std::int64_t n) {
               Tensor tensor = Tensor::allocate(DType::float32, {300});
               std::ranges::fill(tensor.mutable_values<float>(), float(seed % 2 + 1));
               return std::pair{n + 2'000 * (seed / 2), tensor};
             });
    });
  };
  Job job(options);
  const auto right = tensors(job).reduce_by_key(add).filter([](const auto& pair) {
    return std::ranges::count(pair.second.template values<float>(), 3.0F) == 300;
  });
  BOOST_TEST(right.count() == 60'000u);
  BOOST_TEST(job.state()->engine().spilled_bytes() > 0u);

  options.memory_bytes = 48 * mib;
  Job small(options);
  const Status status = test::status_of([&] {
    tensors(small)
        .filter([](const auto& pair) { return pair.first < 1'000; })
        .map([](auto pair) {
          return std::pair{0, std::move(pair.second)};
        })
        .reduce_by_key([](const Tensor& a, const Tensor& b) {
          return Tensor::zeros(DType::float32, {a.elements() + 50 * b.elements()});
        })
        .count();
  });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message.find("the value of the key 0 has grown to") != status.message.npos,
             status.message);
}

BOOST_AUTO_TEST_CASE(several_tasks_write_what_one_writes) {
  const test::Folder folder;
  JobOptions options = small_parts();
  options.parameters = {{"output", folder.file("alone")}};
  Job alone(options);
  sums_by_key(alone);
  const auto expected = test::files_of(folder.file("alone"));
  BOOST_TEST(expected.size() > 1u);
  LocalCluster cluster({{"worker", 2}});
  const JobTable jobs{{"sums_by_key", sums_by_key}};
  options.parameters = {{"output", folder.file("two")}};
  const auto run = [&](int task) {
    return test::status_of(
        [&] { run_job(cluster.server("worker", task), jobs, "sums_by_key", options); });
  };
  auto other = std::async(std::launch::async, [&] { return run(1); });
  const Status first = run(0);
  BOOST_TEST(first.ok(), first.to_string());
  BOOST_TEST(other.get().ok());
  BOOST_TEST((test::files_of(folder.file("two")) == expected));
}

BOOST_AUTO_TEST_SUITE_END()
