#include "kernels/devices/in_flight.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

namespace actorflow {
namespace {

// Passes when the test says so, or when somebody waits.
struct FakeEvent {
  bool passed() const { return *state; }
  void wait() const { *state = true; }
  std::shared_ptr<bool> state = std::make_shared<bool>(false);
};

Tensor bytes(std::int64_t count) { return Tensor::allocate(DType::uint8, {count}); }

struct LaunchedWork {
  FakeEvent launch(const Tensor& tensor) {
    FakeEvent event;
    in_flight.launch(tensor, [&] { return event; });
    return event;
  }

  InFlight<FakeEvent> in_flight{1000};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(in_flight, LaunchedWork)

BOOST_AUTO_TEST_CASE(a_tensor_is_held_until_its_event_has_passed) {
  const Tensor tensor = bytes(10);
  const FakeEvent event = launch(tensor);
  in_flight.release_passed();
  BOOST_TEST(!tensor.exclusive());
  *event.state = true;
  BOOST_TEST(!tensor.exclusive());
  in_flight.release_passed();
  BOOST_TEST(tensor.exclusive());
}

BOOST_AUTO_TEST_CASE(a_launch_releases_what_has_passed) {
  const Tensor first = bytes(10), second = bytes(10);
  *launch(first).state = true;
  launch(second);
  BOOST_TEST(first.exclusive());
  BOOST_TEST(!second.exclusive());
}

BOOST_AUTO_TEST_CASE(a_tensor_that_is_read_twice_is_held_until_the_second_event) {
  const Tensor tensor = bytes(10);
  const FakeEvent first = launch(tensor), second = launch(tensor);
  *first.state = true;
  in_flight.release_passed();
  BOOST_TEST(!tensor.exclusive());
  *second.state = true;
  in_flight.release_passed();
  BOOST_TEST(tensor.exclusive());
}

BOOST_AUTO_TEST_CASE(beyond_the_limit_a_launch_waits_for_the_oldest) {
  const std::vector<Tensor> tensors = {bytes(400), bytes(400), bytes(400)};
  std::vector<FakeEvent> events;
  for (const Tensor& tensor : tensors) events.push_back(launch(tensor));
  BOOST_TEST(events[0].passed());
  BOOST_TEST(tensors[0].exclusive());
  for (std::size_t i : {1, 2}) {
    BOOST_TEST(!events[i].passed());
    BOOST_TEST(!tensors[i].exclusive());
  }
}

BOOST_AUTO_TEST_CASE(a_tensor_larger_than_the_limit_is_held_alone) {
  const Tensor small = bytes(10), large = bytes(2000);
  const FakeEvent first = launch(small), second = launch(large);
  BOOST_TEST(first.passed());
  BOOST_TEST(!second.passed());
  BOOST_TEST(!large.exclusive());
}

BOOST_AUTO_TEST_CASE(what_could_not_be_launched_is_not_held) {
  const Tensor tensor = bytes(10);
  const auto fail = [&]() -> FakeEvent { throw std::runtime_error("no event"); };
  BOOST_CHECK_THROW(in_flight.launch(tensor, fail), std::runtime_error);
  BOOST_TEST(tensor.exclusive());
  *launch(tensor).state = true;
  in_flight.release_passed();
  BOOST_TEST(tensor.exclusive());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace actorflow
