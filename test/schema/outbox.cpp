// Which messages of a link go out together, and on which plane.
#include "schema/rpc/outbox.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "schema/codec/message_size.h"
#include "schema/link.h"

BOOST_AUTO_TEST_SUITE(outbox)

using namespace actorflow;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

Status long_reason(std::size_t bytes) { return {Code::internal, std::string(bytes, 'x')}; }

}  // namespace

// A text of more than 4 MiB is cut when it is written.
BOOST_AUTO_TEST_CASE(the_text_of_a_status_counts_as_what_is_written_of_it) {
  for (const std::size_t bytes : {std::size_t{0}, mib, 9 * mib}) {
    const std::size_t written = std::min(bytes, 4 * mib);
    ActorMessage letter;
    letter.status = long_reason(bytes);
    for (const Message& message :
         {Message(AbortStep{1, long_reason(bytes)}), Message(StepDone{1, long_reason(bytes), {}}),
          Message(GraphRegistered{1, long_reason(bytes), 1}), Message(letter),
          Message(Undelivered{Undelivered::What::run, 1, long_reason(bytes)})}) {
      BOOST_TEST(estimated_bytes(message) >= written, "message " << message.index());
      BOOST_TEST(estimated_bytes(message) < written + 1000, "message " << message.index());
    }
  }
  BOOST_TEST(estimated_bytes(Shutdown{std::string(mib, 'x')}) >= mib);
}

// Together they would be more than a link carries at once. They do not leave the plane of what they are
// to follow.
BOOST_AUTO_TEST_CASE(long_reasons_go_out_one_by_one_among_the_small_messages) {
  Outbox outbox;
  for (StepId step = 1; step <= 3; ++step) {
    const auto pushed = outbox.push(AbortStep{step, long_reason(mib - 500)});
    BOOST_TEST((pushed.plane == Plane::control));
  }
  for (StepId step = 1; step <= 3; ++step) {
    const auto batch = outbox.take_control();
    BOOST_TEST_REQUIRE(batch.size() == 1u);
    BOOST_TEST(std::get<AbortStep>(batch[0].message).step == step);
  }
  BOOST_TEST((outbox.push(Shutdown{std::string(mib, 'x')}).plane == Plane::control));
  BOOST_TEST((outbox.push(StepDone{1, long_reason(mib), {}}).plane == Plane::bulk));
}

BOOST_AUTO_TEST_SUITE_END()
