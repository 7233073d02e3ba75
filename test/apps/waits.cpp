// `actorflow waits` asks tasks that are stopped, lost, or speak only with those who have credentials: it
// ends with an answer or with the reason.
#include <capnp/rpc.capnp.h>
#include <capnp/serialize.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "schema/master.capnp.h"
#include "test/apps/support/frame_proxy.h"
#include "test/apps/support/process.h"
#include "test/support/contains.h"
#include "test/support/folder.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(waits)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// The first of so many ranks, the others of which never come unless it is alone.
struct FirstRank {
  explicit FirstRank(int ranks, const std::vector<std::string>& more = {})
      : addresses(free_addresses(ranks)), process(command(more)) {}

  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::string hosts;
    for (const auto& address : addresses) hosts += (hosts.empty() ? "" : ",") + address;
    std::vector<std::string> command{"all_reduce", "--hosts", hosts, "--rank=0", "--rounds=100000000"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  const std::vector<std::string> addresses;
  Process process;
};

// Ends with this status and these words.
void expect_end(const std::vector<std::string>& arguments, int status, const std::string& words) {
  std::vector<std::string> command{"actorflow", "waits"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Process asking(command);
  BOOST_TEST(asking.wait() == status, asking.output());
  BOOST_TEST(contains(asking.output(), words), asking.output());
}

// Whether the client has found its master.
bool calls_master(const FrameProxy::Frame& frame) {
  if (frame.is_delivery) return false;
  std::vector<capnp::word> words(frame.bytes.size() / sizeof(capnp::word));
  std::memcpy(words.data(), frame.bytes.data(), frame.bytes.size());
  capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()));
  const auto message = reader.getRoot<capnp::rpc::Message>();
  return message.isCall() && message.getCall().getInterfaceId() == capnp::typeId<wire::Master>();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_task_whose_group_is_not_open_says_for_whom_it_waits) {
  FirstRank rank(2);
  BOOST_REQUIRE_MESSAGE(rank.process.prints("the group 'world' waits for"), rank.process.output());
  expect_end({rank.addresses[0]}, 0, "the group 'world' waits for rank 1 (/job:rank/task:1) since");
}

BOOST_AUTO_TEST_CASE(a_task_that_is_lost_or_stopped_does_not_answer) {
  FirstRank rank(1);
  BOOST_REQUIRE_MESSAGE(rank.process.prints("adds"), rank.process.output());
  rank.process.send_signal(SIGSTOP);
  expect_end({rank.addresses[0]}, 138, "no master answered at " + rank.addresses[0]);
  rank.process.send_signal(SIGKILL);
  BOOST_TEST(rank.process.wait() == 128 + SIGKILL);
  expect_end({rank.addresses[0]}, 138, "no master answered at " + rank.addresses[0]);
}

// It keeps no time for the step that it has been given.
BOOST_AUTO_TEST_CASE(a_task_that_is_stopped_while_it_is_asked_is_given_up) {
  FirstRank rank(1);
  BOOST_REQUIRE_MESSAGE(rank.process.prints("adds"), rank.process.output());
  const FrameProxy proxy(rank.addresses[0], [&] {
    return [&](const FrameProxy::Frame& frame, const FrameProxy::Send& send) {
      if (calls_master(frame)) rank.process.send_signal(SIGSTOP);  // it has stopped when this returns
      send(frame.bytes);
    };
  });
  expect_end({proxy.address()}, 138, "it has answered nothing for 10000 ms: it is stopped or cut off");
}

BOOST_AUTO_TEST_CASE(a_task_with_credentials_is_asked_with_credentials) {
  const Folder folder;
  const std::string keys = folder.file("keys");
  Process keygen({"actorflow", "keygen", "--cluster", R"({"rank": ["a:1"]})", "--output", keys});
  BOOST_REQUIRE_MESSAGE(keygen.wait() == 0, keygen.output());
  FirstRank rank(1, {"--credentials", keys});
  BOOST_REQUIRE_MESSAGE(rank.process.prints("adds"), rank.process.output());
  expect_end({rank.addresses[0]}, 1, "it takes connections with TLS only");
  expect_end({rank.addresses[0], "--credentials", keys}, 0, "group 'world'");
}

BOOST_AUTO_TEST_CASE(what_is_no_address_is_refused) {
  expect_end({"localhost"}, 1, "'localhost' is not an address of the form host:port");
}

BOOST_AUTO_TEST_SUITE_END()
