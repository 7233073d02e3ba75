// What keeps a task from listening.
#include "schema/address.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "dataflow/values/error.h"
#include "test/support/no_descriptors.h"

BOOST_AUTO_TEST_SUITE(address)

using namespace actorflow;

namespace {

const Address any_port{"127.0.0.1", 0};

Status outcome_of_listening(const Address& address) {
  try {
    close(listen_on(address, Reach::loopback_only).fd);
    return {};
  } catch (const Error& error) {
    return error.status();
  }
}

}  // namespace

// A program that takes either for the loss of another task is started again without an end.
BOOST_AUTO_TEST_CASE(a_taken_port_is_no_task_that_is_not_there) {
  const ListenSocket first = listen_on(any_port, Reach::loopback_only);
  const Status status = outcome_of_listening(first.address);
  close(first.fd);
  BOOST_TEST((status.code == Code::already_exists), status.to_string());
  BOOST_TEST(status.message.find(first.address.to_string()) != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(nor_is_a_process_without_descriptors) {
  Status status;
  {
    const test::NoDescriptors any_more;
    status = outcome_of_listening(any_port);
  }
  BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
}

BOOST_AUTO_TEST_SUITE_END()
