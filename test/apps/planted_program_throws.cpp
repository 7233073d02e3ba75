// A handler throws in a real process of a program that uses what training by parameter servers does not:
// inputs and queues, nodes that are actors, a program's own actors, collective operations. No process
// hangs: each ends well, or because of what was thrown. The simulation does that with every handler
// (simulation/planted_throws).
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/exit_status.h"
#include "test/apps/support/process.h"
#include "test/apps/support/throw_once.h"
#include "test/support/folder.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(planted_program_throws)

using namespace actorflow;
using test::Process;

namespace {

using Command = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Runs the commands at the same time. The last one throws, where throw_once.cpp says.
void expect_end(const std::vector<Command>& commands, const std::string& throws) {
  std::vector<std::unique_ptr<Process>> processes;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    Command command{"/usr/bin/env", "ACTORFLOW_TEST_THROW=" + (i + 1 == commands.size() ? throws : "")};
    command.insert(command.end(), commands[i].begin(), commands[i].end());
    processes.push_back(std::make_unique<Process>(std::move(command)));
  }
  bool all_well = true;
  std::string output;
  for (const auto& process : processes) {
    const int status = process->wait();
    all_well = all_well && status == success;
    output += process->output();
    BOOST_TEST((status == success || status == failed_run || status == lost_task),
               throws << ": " << status << "\n"
                      << process->output());
  }
  BOOST_TEST(has(output, test::throws_here), throws << ": nothing was thrown\n" << output);
  BOOST_TEST((all_well || has(output, test::cause_of(throws))), throws << ": not said\n" << output);
}

const std::string bin = ACTORFLOW_BIN_DIR;

void expect_steps_to_end(const std::string& throws, const Command& flags = {}) {
  Command command{bin + "/throwing_steps"};
  command.insert(command.end(), flags.begin(), flags.end());
  expect_end({command}, throws);
}

}  // namespace

BOOST_AUTO_TEST_CASE(in_queues) {
  for (const char* throws : {"queue-shard/StateCall:5", "queue-shard/StateCall:8:after:no_memory",
                             "queue-shard/ServeInput:1"})
    expect_steps_to_end(throws);
}

BOOST_AUTO_TEST_CASE(in_inputs) {
  for (const char* throws : {"input/StateCall:3", "input/NextElement:3:before:of_no_type",
                             "input/SkipTo:1", "input/Tick:4:after:no_memory"})
    expect_steps_to_end(throws);
}

BOOST_AUTO_TEST_CASE(in_nodes_that_are_actors) {
  for (const char* throws :
       {"conductor/StartStep:3", "conductor/NodeDone:6:after:no_memory", "node-actor/OpenFrame:6",
        "node-actor/TensorEdge:6:before:of_no_type", "node-actor/Completed:6"})
    expect_steps_to_end(throws, {"--node_actors"});
}

// Two tasks in one process: what ends it ends both.
BOOST_AUTO_TEST_CASE(in_actors_of_a_program) {
  const test::Folder folder;
  std::string text;
  for (int line = 0; line < 100; ++line) text += "to be or not to be\n";
  test::write_file(folder.file("text"), text);
  for (const char* throws :
       {"named-actor/ActorMessage:20", "named-actor/ActorMessage:40:after:no_memory",
        "switchboard/RegisterActor:1", "switchboard/ActorMessage:20:before:of_no_type",
        "client-caller/SendThis:20", "client-caller/ActorMessage:2:before:no_memory"})
    expect_end({{bin + "/throwing_counter", folder.file("text")}}, throws);
}

BOOST_AUTO_TEST_CASE(in_collective_operations) {
  for (const char* throws :
       {"collectives/CallGroup:3", "collectives/CallGroup:4:after:no_memory",
        "collectives/ActorMessage:6:before:of_no_type", "collectives/ActorMessage:9:after",
        // Behind what rank 0 asks to measure its link.
        "collectives/ActorMessage:40:before:of_no_type", "collectives/ActorMessage:43:after"}) {
    std::string hosts;
    for (const auto& address : test::free_addresses(3)) hosts += (hosts.empty() ? "" : ",") + address;
    std::vector<Command> ranks;
    for (const char* rank : {"0", "2", "1"})
      ranks.push_back({bin + "/throwing_all_reduce", "--hosts", hosts, "--rank", rank});
    expect_end(ranks, throws);
  }
}

BOOST_AUTO_TEST_SUITE_END()
