// Users' actors while tasks die, stop and are cut off: no message is handled twice or out of its order,
// and none is lost unsaid.
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"

BOOST_AUTO_TEST_SUITE(named_actors)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr int tasks = 3, rounds = 12;

struct Note {
  std::string writer;  // a life of a task
  std::int64_t number;
  std::vector<std::uint8_t> ballast;
};
struct Taken {
  std::int64_t number;
};
struct Relay {  // to the ledger of that task
  std::string task;
  Note note;
};

std::string life_of(SimTask& task) {
  return task.server().name().to_string() + "#" + std::to_string(task.life());
}

// What really happened, beside the simulated world.
struct Witness {
  struct Handled {
    std::string reader;  // a life of a task
    std::int64_t number;
  };
  // By writer and the task that it wrote to.
  std::map<std::pair<std::string, std::string>, std::vector<Handled>> handled;
  std::map<std::pair<std::string, std::string>, std::set<std::int64_t>> confirmed;
  std::set<std::string> finished;  // tasks
};

// "/job:worker/task:1#2" is a life of "/job:worker/task:1".
std::string task_of(const std::string& life) { return life.substr(0, life.find('#')); }

class Ledger final : public NamedActor {
 public:
  Ledger(Witness& witness, std::string life) : witness_(witness), life_(std::move(life)) {
    on([this](const Note& note) {
      witness_.handled[{note.writer, task_of(life_)}].push_back({life_, note.number});
      return Taken{note.number};
    });
    on([this](const Relay& relay, ActorReply<Taken> reply) {
      ask<Taken>(
          relay.task, "ledger", relay.note,
          [reply](const Status& status, const Taken& taken) {
            status.ok() ? reply.send(taken) : reply.fail(status);
          },
          10s);
    });
  }

 private:
  Witness& witness_;
  const std::string life_;
};

// Errors of a job whose tasks come and go. Anything else ends the test.
bool may_happen(const Error& error) {
  return error.code() == Code::unavailable || error.code() == Code::not_found ||
         error.code() == Code::deadline_exceeded || error.code() == Code::aborted;
}

class Writer {
 public:
  Writer(SimTask& task, Witness& witness) : task_(task), witness_(witness) {}

  void write_to(const std::string& reader) {
    const ActorRef ledger =
        task_.server().find(reader, "ledger", {.window_messages = 8, .patience = 2min});
    const ActorRef own = task_.server().find(task_.server().name().to_string(), "ledger");
    for (int round = 0; round < rounds; ++round) {
      tell_some(ledger, reader);
      const Note asked = next(round % 4 == 0 ? 100'000 : 0);
      confirm(reader, {asked.number},
              [&] { BOOST_TEST(ledger.ask<Taken>(asked, 10s).get().number == asked.number); });
      const Note relayed{life_ + " relayed", ++last_, {}};
      confirm(
          reader, {relayed.number},
          [&] {
            BOOST_TEST(own.ask<Taken>(Relay{reader, relayed}, 20s).get().number == relayed.number);
          },
          " relayed");
      task_.sleep(10ms);
    }
  }

 private:
  Note next(std::size_t ballast) { return {life_, ++last_, std::vector<std::uint8_t>(ballast)}; }

  void tell_some(const ActorRef& ledger, const std::string& reader) {
    std::vector<std::int64_t> numbers;
    for (int i = 0; i < 12; ++i) numbers.push_back(last_ + 1 + i);
    confirm(reader, numbers, [&] {
      for (int i = 0; i < 12; ++i) ledger.tell(next(i % 5 == 0 ? 100'000 : 3));
      ledger.drain(20s);
    });
    last_ = numbers.back();
  }

  template <class Send>
  void confirm(const std::string& reader, const std::vector<std::int64_t>& numbers, Send send,
               const char* way = "") {
    try {
      send();
      witness_.confirmed[{life_ + way, reader}].insert(numbers.begin(), numbers.end());
    } catch (const Error& error) {
      if (!may_happen(error)) throw;
      task_.sleep(100ms);
    }
  }

  SimTask& task_;
  Witness& witness_;
  const std::string life_ = life_of(task_);
  std::int64_t last_ = 0;
};

// A task that dies when it has written comes back to do nothing. All stay until all have written.
void run_task(SimTask& task, Witness& witness) {
  Server& server = task.server();
  const std::string name = server.name().to_string(), life = life_of(task);
  server.spawn("ledger", [&witness, life] { return std::make_unique<Ledger>(witness, life); });
  if (!witness.finished.contains(name)) {
    Writer writer(task, witness);
    for (const auto& reader : server.cluster().all_tasks()) writer.write_to(reader.to_string());
    witness.finished.insert(name);
  }
  while (witness.finished.size() < tasks) task.sleep(100ms);
  task.sleep(1s);
}

// Each number once, and in the order of its writer as far as one reader lived.
void check(const Witness& witness) {
  std::size_t handled = 0, confirmed = 0;
  for (const auto& [way, notes] : witness.handled) {
    std::set<std::int64_t> numbers;
    std::map<std::string, std::int64_t> last;
    for (const auto& [reader, number] : notes) {
      BOOST_TEST(numbers.insert(number).second, way.first << " " << number << " was handled twice");
      BOOST_TEST(last[reader] < number, way.first << " " << number << " was handled too late");
      last[reader] = number;
    }
    handled += notes.size();
  }
  for (const auto& [way, numbers] : witness.confirmed) {
    std::set<std::int64_t> known;
    if (const auto found = witness.handled.find(way); found != witness.handled.end())
      for (const auto& entry : found->second) known.insert(entry.number);
    for (const auto number : numbers)
      BOOST_TEST(known.contains(number), way.first << " " << number << " was confirmed, not handled");
    confirmed += numbers.size();
  }
  BOOST_TEST(handled >= confirmed);
  BOOST_TEST(confirmed > std::size_t{rounds} * 14);  // the chief's to itself alone are that many
}

FaultPlan faults(std::uint64_t seed) {
  using enum FaultKind;
  const std::vector<TaskName> mortal{{"worker", 1}, {"worker", 2}};
  const std::vector<TaskName> everybody{{"worker", 0}, {"worker", 1}, {"worker", 2}};
  FaultPlan plan = random_fault_plan(seed, mortal, {.count = 2, .until = 1s, .kinds = {kill}});
  const auto others = random_fault_plan(
      seed + 1, everybody,
      {.count = 3, .until = 1s, .kinds = {pause, partition, delay, slow, lossy, late, duplicate}});
  plan.insert(plan.end(), others.begin(), others.end());
  return plan;
}

}  // namespace

SIMULATION_TEST(every_message_is_handled_once_without_faults, seeds(1, 20)) {
  Witness witness;
  SimCluster sim({{"worker", tasks}}, of_this_seed({}));
  auto run = sim.start([&witness](SimTask& task) { run_task(task, witness); });
  run.finish();
  check(witness);
  std::size_t confirmed = 0;
  for (const auto& entry : witness.confirmed) confirmed += entry.second.size();
  BOOST_TEST(confirmed == std::size_t{tasks} * tasks * rounds * 14);
}

SIMULATION_TEST(no_message_is_handled_twice_or_lost_unsaid, seeds(1, 300)) {
  Witness witness;
  const SimOptions options = of_this_seed({.restart_failed = 1s});
  SimCluster sim({{"worker", tasks}}, options);
  auto run = sim.start([&witness](SimTask& task) { run_task(task, witness); });
  sim.apply(faults(options.seed));
  run.finish();
  check(witness);
}

SIMULATION_TEST(an_actor_that_comes_back_answers_who_was_silent_meanwhile, seeds(1, 10)) {
  const auto moment = std::chrono::milliseconds(1000 + 100 * (of_this_seed({}).seed % 10));
  Witness witness;
  bool over = false;
  SimCluster sim({{"worker", 2}}, of_this_seed({}));
  auto run = sim.start([&](SimTask& task) {
    const std::string life = life_of(task);
    task.server().spawn("ledger", [&, life] { return std::make_unique<Ledger>(witness, life); });
    if (task.server().name().index == 0) {
      const ActorRef ledger = task.server().find("/job:worker/task:1", "ledger");
      ledger.wait_until_there();
      BOOST_TEST(ledger.ask<Taken>(Note{life, 1, {}}, 10s).get().number == 1);
      task.sleep(20s);
      BOOST_TEST(ledger.ask<Taken>(Note{life, 2, {}}, 10s).get().number == 2);
      ledger.tell(Note{life, 3, {}});
      ledger.drain(10s);
      over = true;
    }
    while (!over) task.sleep(100ms);
  });
  sim.at(moment).kill("/job:worker/task:1");
  sim.at(moment + 1s).restart("/job:worker/task:1");
  run.finish();
  BOOST_TEST(witness.handled.size() == 1U);
  BOOST_TEST(witness.handled.begin()->second.back().reader == "/job:worker/task:1#2");
}

BOOST_AUTO_TEST_SUITE_END()
