// Names of collective operations, of which a program may make new ones for ever.
#include "actors/collectives/engine/operation_names.h"

#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/actors/support/ranks.h"
#include "test/support/contributions.h"

BOOST_AUTO_TEST_SUITE(operation_names)

using namespace actorflow;
using test::contribution, test::serial;

namespace {

// Uses a name once more, as a group does.
NamedOperation& use(OperationNames& names, const std::string& name) {
  NamedOperation* operation = names.find(name);
  if (!operation) {
    if (names.are_many())
      for (const auto* unused : names.unused()) names.forget(*unused);
    operation = &names.add(name);
  }
  operation->count_use();
  return *operation;
}

void make_new_names(OperationNames& names, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) use(names, "new " + std::to_string(i));
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_names_that_are_no_longer_used_the_count_stays) {
  OperationNames names;
  NamedOperation& once = use(names, "once");
  once.agree({{"once", 1}, 7, {}, Algorithm::direct, 1});
  use(names, "once");
  for (std::size_t i = 0; i < 10 * OperationNames::few; ++i) {
    use(names, "new " + std::to_string(i));
    use(names, "again and again");
    BOOST_REQUIRE(names.held() <= 3 * OperationNames::few);
    BOOST_REQUIRE(names.find("again and again") != nullptr);
  }
  BOOST_TEST(names.find("once") == nullptr);
  BOOST_TEST(names.used().size() == 10 * OperationNames::few + 2);
  NamedOperation& back = use(names, "once");
  BOOST_TEST(back.used() == 3U);
  BOOST_TEST(!back.agreed().has_value());
  BOOST_TEST(!back.agree({{"once", 1}, 7, {}, Algorithm::direct, 1}), "it comes late");
  BOOST_TEST(back.agree({{"once", 3}, 8, {}, Algorithm::direct, 1}));
  BOOST_TEST(names.used().size() == 10 * OperationNames::few + 2);
}

// In flight, or with something that has come for its next use.
BOOST_AUTO_TEST_CASE(a_name_for_which_something_waits_is_kept) {
  OperationNames names;
  use(names, "in flight").announce({}, false, {});
  use(names, "early").take(rank_messages::Part{{"early", 2}, 1, 1, 0, {}}, {});
  use(names, "fails").fail({"fails", 2}, {Code::aborted, "elsewhere"});
  make_new_names(names, 10 * OperationNames::few);
  for (const auto* name : {"in flight", "early", "fails"}) BOOST_TEST(names.find(name) != nullptr, name);
}

// The ranks use many names at once, each in an order of its own, so that they forget others at the same
// time: of a name that is used again some know what was agreed on, and some do not.
BOOST_AUTO_TEST_CASE(a_forgotten_name_is_agreed_on_anew) {
  constexpr int size = 3, at_once = 1000;
  const Shape shape{2};
  test::Ranks ranks(size);
  ranks.run([&](Communicator& world) {
    const auto add_all = [&](int use, int of_batch) {
      std::vector<CollectiveHandle> sums;
      for (int i = 0; i < at_once; ++i) {
        const int name = (i + world.rank() * at_once / size) % at_once + of_batch * at_once;
        sums.push_back(world.all_reduce_async(contribution<float>(world.rank(), shape, use),
                                              {.name = std::to_string(name)}));
      }
      for (const auto& sum : sums)
        if (!identical(sum.wait(), serial<float>(size, shape, use)))
          throw std::logic_error("a wrong sum");
    };
    constexpr int batches = 3 * OperationNames::few / at_once;
    for (int use = 0; use < 2; ++use)
      for (int batch = 0; batch < batches; ++batch) add_all(use, batch);
    // The same name for something else.
    const Tensor one{1};
    if (world.all_reduce(one, {.name = "0"}).values<std::int32_t>()[0] != size)
      throw std::logic_error("wrong");
  });
}

BOOST_AUTO_TEST_SUITE_END()
