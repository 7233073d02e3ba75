// What a task does about slices that it has lost, or cannot get.
#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <cstring>

#include "actors/core/await_end.h"
#include "actors/jobs/engine/job_agent.h"
#include "actors/runtime/file_storage.h"
#include "actors/runtime/threaded_runtime.h"
#include "schema/records/key.h"
#include "test/schema/support/tasks.h"

using namespace actorflow;
using FromTask = actorflow::Sender;
using test::Mailbox;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

struct Inbox {
  Mailbox<PartNotRun> not_run;
  Mailbox<PartRan> ran;
  Mailbox<FetchSlices> asked;
};

// The coordinator of an agent's job, and the task that it asks for slices.
struct Others {
  GuardedActor* self;
  Inbox& inbox;
};
using OthersActor = caf::stateful_actor<std::unique_ptr<Others>, ComputingActor>;

caf::behavior others_actor(OthersActor* self, Inbox* inbox) {
  self->state = std::make_unique<Others>(self, *inbox);
  return guarded(
      self, self->state.get(), [](const FromTask&, const StageReady&) {},
      [](const FromTask&, const AgentProgress&) {},
      [inbox](const FromTask&, PartNotRun& part) { inbox->not_run.put(std::move(part)); },
      [inbox](const FromTask&, PartRan& part) { inbox->ran.put(std::move(part)); },
      [inbox](const FromTask&, FetchSlices& request) { inbox->asked.put(std::move(request)); });
}

// An agent whose job is at stage 2, and has kept stage 1, of one part.
struct Agent {
  explicit Agent(std::function<void(Part&)> body) {
    kept->add(1, records);
    mail->coordinator = mail->slices = runtime->system().spawn(others_actor, &inbox);
    mail->agent = runtime->system().spawn(
        job_agent_actor, AgentOrder{mail, kept, tools, 2, 96 * mib, steady_clock(), {}, 1});
    StageSpec spec;
    spec.name = "sum";
    spec.parts = 2;
    spec.body = std::move(body);
    caf::anon_send(mail->agent,
                   BeginStage{2, std::make_shared<const StageSpec>(spec), nullptr, [](StageEnd) {}});
  }
  ~Agent() {
    const std::vector actors{mail->agent, mail->coordinator};
    await_end(*runtime, actors, [&] {
      for (const auto& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::kill);
    });
    mail->agent = mail->coordinator = mail->slices = nullptr;
  }
  void run(std::uint64_t part, const std::vector<StageNumber>& stages = {}) const {
    RunPart order{{2, part, 0}, {}, {}, {}};
    for (const StageNumber stage : stages)
      order.inputs.push_back({{stage, true, 0}, {JobMail::coordinator_task}});
    mail->to_agent(0, std::move(order));
  }
  PartNotRun not_run() {
    auto part = inbox.not_run.take();
    BOOST_REQUIRE(part);
    return *part;
  }
  // Five bytes, of part 0.
  void answer(std::uint64_t request) const {
    Tensor bytes = Tensor::zeros(DType::uint8, {5});
    SlicesAre slices;
    slices.request = request;
    slices.pieces = {{0, 1, 5}};
    slices.parts_done = 1;
    slices.checksum = hash_bytes(detail::payload_bytes(bytes));
    ActorMessage letter;
    letter.type = message_type<SlicesAre>();
    letter.content = to_payload(slices);
    letter.payload = std::move(bytes);
    caf::anon_send(mail->agent, FromTask{TaskId{0}, 1}, std::move(letter));
  }

  Inbox inbox;
  const std::shared_ptr<ThreadedRuntime> runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 1});
  const std::shared_ptr<JobMail> mail = std::make_shared<JobMail>(nullptr);
  const std::shared_ptr<KeptRecords> records = std::make_shared<KeptRecords>(1, 1, 1);
  const std::shared_ptr<KeptStages> kept = std::make_shared<KeptStages>();
  const JobTools tools{posix_storage(),
                       std::make_shared<ChunkStore>(posix_storage(), ChunkStoreOptions{mib, "", 0}), mib,
                       mib, std::make_shared<const std::atomic<bool>>(false)};
};

StoredChunks no_chunks() { return {}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_slices)

// What it has asked for on behalf of the part comes, and nobody wants it.
BOOST_AUTO_TEST_CASE(a_part_that_is_refused_holds_nothing) {
  Agent agent([](Part&) {});
  agent.run(0, {1, 9});
  const auto request = agent.inbox.asked.take();
  BOOST_REQUIRE(request);
  const auto refused = agent.not_run();
  BOOST_TEST((refused.status.code == Code::aborted));
  BOOST_TEST(refused.status.message.find("stage run 9 are not kept here") != std::string::npos,
             refused.status.message);
  agent.answer(request->request);
  agent.run(1, {9});
  agent.not_run();  // so the answer has been taken
  BOOST_TEST(!agent.records->has(0, 0));
  BOOST_TEST(agent.tools.chunks->memory_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(a_copy_is_lost_and_what_came_in_its_place_stays) {
  KeptRecords records(1, 1, 2);
  records.keep(0, no_chunks());
  const auto bad = records.slices(0, 0);
  BOOST_TEST(bad.is_own);
  records.keep(0, no_chunks());
  BOOST_TEST(!records.lose(0, bad.chunks));
  BOOST_TEST(records.has(0, 0));
  BOOST_TEST(records.lose(0, records.slices(0, 0).chunks));
  BOOST_TEST(!records.has(0, 0));
  records.keep_fetched(0, 0, no_chunks());
  records.keep_fetched(0, 1, no_chunks());
  BOOST_TEST(!records.slices(0, 1).is_own);
  BOOST_TEST(records.lose(0, records.slices(0, 1).chunks));
  BOOST_TEST((records.has(0, 0) && !records.has(0, 1)));
}

// Two attempts have read one bad copy: what is made in its place is not lost with it, and neither of
// them has failed.
BOOST_AUTO_TEST_CASE(a_bad_copy_is_blamed_once) {
  std::shared_ptr<const StoredChunks> bad;
  Agent agent([&bad](Part&) {
    throw LostRecords(Code::data_loss, "it has changed", {1, 0, bad, true});
  });
  agent.records->keep(0, no_chunks());
  bad = agent.records->slices(0, 0).chunks;
  agent.run(0);
  const auto first = agent.not_run();
  BOOST_TEST((first.missing && first.missing->holder == JobMail::coordinator_task));
  agent.records->keep(0, no_chunks());
  agent.run(1);
  const auto second = agent.not_run();
  BOOST_TEST((second.missing && second.missing->holder == StageTracker::nowhere));
  BOOST_TEST(agent.records->has(0, 0));
  BOOST_TEST(agent.inbox.ran.size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
