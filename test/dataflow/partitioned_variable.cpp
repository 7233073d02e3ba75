#include "dataflow/train/partitioned_variable.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/train/replica_device_setter.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(partitioned_variable)

using namespace actorflow;
using test::invalid_with;

namespace {

using Sizes = std::vector<std::int64_t>;

TensorType floats(const Shape& shape) { return {DType::float32, shape}; }

PartitionedVariable zeros(Graph& g, const Shape& shape, const Partitioner& partitioner) {
  const auto initial = [&g](const Shape& part, std::int64_t) {
    return g.constant(Tensor::zeros(DType::float32, part));
  };
  return actorflow::partitioned_variable(g, "table", floats(shape), initial, partitioner);
}

}  // namespace

BOOST_AUTO_TEST_CASE(parts_of_a_fixed_number_are_equal_but_for_one_row) {
  const auto sizes = [](std::int64_t rows, int parts) {
    return fixed_size_partitioner(parts)(floats({rows, 4}));
  };
  BOOST_TEST(sizes(10, 3) == (Sizes{4, 3, 3}), boost::test_tools::per_element());
  BOOST_TEST(sizes(2, 3) == (Sizes{1, 1}), boost::test_tools::per_element());
  BOOST_CHECK_EXCEPTION(fixed_size_partitioner(0), Error, invalid_with({"got 0"}));
}

BOOST_AUTO_TEST_CASE(parts_have_at_most_so_many_bytes) {
  const auto sizes = [](std::int64_t bytes, int max_parts) {
    return variable_axis_size_partitioner(bytes, max_parts)(floats({10, 4}));  // 16 bytes a row
  };
  BOOST_TEST(sizes(64, 0) == (Sizes{4, 3, 3}), boost::test_tools::per_element());
  BOOST_TEST(sizes(63, 0) == (Sizes{3, 3, 2, 2}), boost::test_tools::per_element());
  BOOST_TEST(sizes(64, 2) == (Sizes{5, 5}), boost::test_tools::per_element());
  BOOST_TEST(sizes(1, 0).size() == 10U);
  BOOST_TEST(sizes(1000, 0) == (Sizes{10}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(parts_are_slices_on_successive_parameter_servers) {
  Graph g;
  const auto table = g.on(replica_device_setter(2), [&] {
    return g.name_scope("model", [&] { return zeros(g, {5, 2}, fixed_size_partitioner(3)); });
  });
  BOOST_TEST(table.name() == "model/table");
  BOOST_TEST(table.boundaries() == (Sizes{0, 2, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(table.parts().size() == 3U);
  BOOST_TEST(g.variables().size() == 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const Variable& part = table.parts()[i];
    BOOST_TEST(part.name() == "model/table/part_" + std::to_string(i));
    BOOST_TEST(part.device() == "/job:ps/task:" + std::to_string(i % 2));
    BOOST_TEST(attr<std::string>(part.value().node(), "slice_of") == "model/table");
    BOOST_TEST(attr<Sizes>(part.value().node(), "slice_offset")[0] == table.boundaries()[i]);
  }
}

BOOST_AUTO_TEST_CASE(an_initializer_knows_where_its_part_is) {
  Graph g;
  Sizes rows;
  const auto initial = [&](const Shape& part, std::int64_t first_row) {
    rows.push_back(first_row);
    return g.constant(Tensor::zeros(DType::float32, part));
  };
  actorflow::partitioned_variable(g, "t", floats({5}), initial, fixed_size_partitioner(2));
  BOOST_TEST(rows == (Sizes{0, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  Graph g;
  BOOST_CHECK_EXCEPTION(zeros(g, {}, fixed_size_partitioner(2)), Error,
                        invalid_with({"'table'", "rows"}));
  BOOST_CHECK_EXCEPTION(zeros(g, {-1, 2}, fixed_size_partitioner(2)), Error, invalid_with({"[?,2]"}));
  BOOST_CHECK_EXCEPTION(zeros(g, {4},
                              [](const TensorType&) {
                                return Sizes{3, 2};
                              }),
                        Error, invalid_with({"4 together", "2 parts of 5 rows"}));
  const auto wrong = [&](const Shape&, std::int64_t) { return g.constant(1.0F); };
  BOOST_CHECK_EXCEPTION(
      actorflow::partitioned_variable(g, "t", floats({4}), wrong, fixed_size_partitioner(2)), Error,
      invalid_with({"part 0", "float32[2]", "float32[]"}));
}

BOOST_AUTO_TEST_SUITE_END()
