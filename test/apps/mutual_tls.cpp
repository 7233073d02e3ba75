// Training by processes that have credentials, and what becomes of those that have none.
#include <boost/test/unit_test.hpp>

#include "test/apps/support/trainers.h"
#include "test/support/contains.h"
#include "test/support/ports.h"
#include "test/support/scoped_environment.h"

using namespace actorflow::test;

namespace {

// A folder of credentials for two parameter servers and two workers.
struct Keys {
  Keys() {
    Process keygen(
        {"actorflow", "keygen", "--ps_hosts=a:1,b:1", "--worker_hosts=c:1,d:1", "--output", path()});
    BOOST_REQUIRE_MESSAGE(keygen.wait() == 0, keygen.output());
    BOOST_TEST(contains(keygen.output(), "made " + path() + "/worker-1.crt, valid until 20"),
               keygen.output());
  }
  std::string path() const { return folder.file("keys"); }
  std::string flag() const { return "--credentials=" + path(); }

  Folder folder;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mutual_tls, Keys)

BOOST_AUTO_TEST_CASE(training_gives_the_same_weights_as_without) {
  const std::vector<std::string> flags{"--train_steps=50", "--seed=7"};
  auto local = flags;
  local.insert(local.end(), {"--sync", "--ps=2", "--workers=2"});
  auto secured = flags;
  secured.insert(secured.end(), {"--sync_replicas", flag()});
  Trainers trainers(2, 2, secured);
  trainers.start_all();
  trainers.expect_success();
  BOOST_TEST(trainers.weights_hash() == report_value(train_in_one_process(local), "weights_hash"));
}

// The strangers come as the second worker, for whom training waits, and as clients.
BOOST_AUTO_TEST_CASE(strangers_get_in_nowhere_while_training_goes_on) {
  const Keys foreign;
  Trainers trainers(2, 2, {"--train_steps=20", "--sync_replicas", flag()});
  trainers.start("ps", 0);
  trainers.start("ps", 1);
  trainers.start("worker", 0);
  const std::string ps = trainers.address("ps", 0), chief = trainers.address("worker", 0);
  const std::string ps_hosts = "--ps_hosts=" + ps + "," + trainers.address("ps", 1);
  const std::string worker_hosts = "--worker_hosts=" + chief + "," + trainers.address("worker", 1);
  using Flags = std::vector<std::string>;
  for (const auto& [credentials, reason] :
       {std::pair{Flags{}, "it takes connections with TLS only"},
        std::pair{Flags{foreign.flag()}, "is of the authority 'Actorflow cluster "}}) {
    Flags stranger_command{"trainer",        ps_hosts,           worker_hosts,     "--job_name=worker",
                           "--task_index=1", "--train_steps=20", "--sync_replicas"};
    Flags client_command{"in_graph", "--target", "actorflow://" + ps};
    for (auto* command : {&stranger_command, &client_command})
      command->insert(command->end(), credentials.begin(), credentials.end());
    Process stranger(stranger_command), client(client_command);
    BOOST_TEST(stranger.wait() == 1);
    BOOST_TEST(contains(stranger.output(), reason), stranger.output());
    BOOST_TEST(client.wait() == 1, client.output());
    BOOST_TEST(contains(client.output(), "no connection to the master at " + ps), client.output());
    BOOST_TEST(contains(client.output(), reason), client.output());
  }
  BOOST_TEST(trainers.task("ps", 0).prints("closed the connection from an unknown peer at 127.0.0.1:"));
  trainers.start("worker", 1);
  trainers.expect_success();
}

BOOST_AUTO_TEST_CASE(servers_and_remote_sessions_take_the_folder_from_the_environment_too) {
  const auto addresses = free_addresses(2);
  const std::string cluster = R"({"local": [")" + addresses[0] + R"(", ")" + addresses[1] + R"("]})";
  Process keygen({"actorflow", "keygen", "--cluster", cluster, "--output", path()});
  BOOST_TEST(keygen.wait() == 0, keygen.output());
  BOOST_TEST(contains(keygen.output(), "kept " + path() + "/ca.crt"), keygen.output());
  const ScopedEnvironment credentials("ACTORFLOW_CREDENTIALS", path());
  Process first({"actorflow", "server", "--cluster", cluster, "--job", "local", "--task", "0"});
  Process second({"actorflow", "server", "--cluster", cluster, "--job", "local", "--task", "1"});
  Process equations({"equations", "--target", "actorflow://" + addresses[0]});
  BOOST_TEST(equations.wait() == 0);
  BOOST_TEST(equations.output() == "238\n");
}

BOOST_AUTO_TEST_CASE(a_wider_address_needs_credentials) {
  const std::vector<std::string> server{
      "actorflow", "server", "--cluster", R"({"worker": ["0.0.0.0:0"]})",
      "--job",     "worker", "--task",    "0"};
  Process refused(server);
  BOOST_TEST(refused.wait() == 1);
  for (const char* part : {"0.0.0.0:0", "actorflow keygen", "127.0.0.1", "--insecure"})
    BOOST_TEST(contains(refused.output(), part), refused.output());
  auto secured = server;
  secured.push_back(flag());
  BOOST_TEST(Process(secured).prints("is listening on actorflow://0.0.0.0:"));
  auto careless = server;
  careless.push_back("--insecure");
  BOOST_TEST(Process(careless).prints("INSECURE: whoever reaches 0.0.0.0:"));
}

BOOST_AUTO_TEST_CASE(wrong_uses_of_keygen_are_explained) {
  Process nobody({"actorflow", "keygen", "--output", path()});
  BOOST_TEST(nobody.wait() == 2);
  BOOST_TEST(contains(nobody.output(), "--cluster"), nobody.output());
  Process no_days({"actorflow", "keygen", "--ps_hosts=a:1", "--output", path(), "--days=0"});
  BOOST_TEST(no_days.wait() == 2);
  Process missing({"trainer", "--ps_hosts=127.0.0.1:0", "--worker_hosts=127.0.0.1:1", "--job_name=ps",
                   "--task_index=0", "--credentials=/nowhere"});
  BOOST_TEST(missing.wait() == 1);
  BOOST_TEST(contains(missing.output(), "cannot read /nowhere/ca.crt"), missing.output());
}

BOOST_AUTO_TEST_SUITE_END()
