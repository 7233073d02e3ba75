// The credentials that the launcher makes for a job, and programs that are given them.
#include "apps/launch/run/job_credentials.h"

#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "actors/strategies/distribution.h"
#include "test/apps/launch/support/launched.h"
#include "test/support/scoped_environment.h"

BOOST_AUTO_TEST_SUITE(job_credentials)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// While it lives, this process can write no byte to a file.
class NoWriting {
 public:
  NoWriting() : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  NoWriting(const NoWriting&) = delete;
  NoWriting& operator=(const NoWriting&) = delete;
  ~NoWriting() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  sighandler_t handler_;
  rlimit before_{};
};

Frame made_without_files(const std::vector<TaskName>& tasks) {
  const NoWriting here;
  return JobCredentials("", tasks).frame_for({tasks[1]});
}

void expect_pem(const std::string& text, const std::string& what) {
  BOOST_TEST(text.starts_with("-----BEGIN " + what + "-----\n"), text.substr(0, 40));
}

}  // namespace

BOOST_AUTO_TEST_CASE(those_of_one_job_are_made_without_a_file) {
  const Frame frame = made_without_files({{"worker", 0}, {"ps", 3}});
  BOOST_REQUIRE(frame.size() == 7u);
  BOOST_TEST(frame[1] == "ca.crt");
  BOOST_TEST(frame[3] == "ps-3.crt");
  BOOST_TEST(frame[5] == "ps-3.key");
  expect_pem(frame[2], "CERTIFICATE");
  expect_pem(frame[4], "CERTIFICATE");
  expect_pem(frame[6], "PRIVATE KEY");
}

BOOST_AUTO_TEST_CASE(a_program_that_would_do_without_them_is_refused) {
  const ScopedEnvironment given("ACTORFLOW_CREDENTIALS", "keys");
  const auto is_explained = [](const Error& error) {
    expect(error.what(), "the program sets ServerOptions::insecure");
    expect(error.what(), "ACTORFLOW_CREDENTIALS names the credentials 'keys'; omit insecure");
    return error.code() == Code::failed_precondition;
  };
  ServerOptions server;
  server.insecure = true;
  BOOST_CHECK_EXCEPTION(distribution_from_environment({}, server), Error, is_explained);
  BOOST_CHECK_EXCEPTION(pipeline_from_environment({}, {}, server), Error, is_explained);
}

BOOST_AUTO_TEST_SUITE_END()
