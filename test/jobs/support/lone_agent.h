// An agent of a job, without other actors of the job: what it says to them is there to be seen.
#pragma once

#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actors/core/await_end.h"
#include "actors/jobs/engine/agent/job_agent.h"
#include "actors/runtime/file_storage.h"
#include "actors/runtime/threaded_runtime.h"
#include "schema/records/key.h"
#include "test/schema/support/tasks.h"

namespace actorflow::test {

constexpr std::size_t mib = std::size_t{1} << 20;

struct AgentsInbox {
  Mailbox<PartNotRun> not_run;
  Mailbox<PartRan> ran;
  Mailbox<FetchSlices> asked;
};

// The coordinator of an agent's job, and the task that it asks for slices.
struct AgentsOthers {
  GuardedActor* self;
  AgentsInbox& inbox;
};
using AgentsOthersActor = caf::stateful_actor<std::unique_ptr<AgentsOthers>, ComputingActor>;

inline caf::behavior agents_others_actor(AgentsOthersActor* self, AgentsInbox* inbox) {
  self->state = std::make_unique<AgentsOthers>(self, *inbox);
  return guarded(
      self, self->state.get(), [](const actorflow::Sender&, const StageReady&) {},
      [](const actorflow::Sender&, const AgentProgress&) {},
      [inbox](const actorflow::Sender&, PartNotRun& part) { inbox->not_run.put(std::move(part)); },
      [inbox](const actorflow::Sender&, PartRan& part) { inbox->ran.put(std::move(part)); },
      [inbox](const actorflow::Sender&, FetchSlices& request) { inbox->asked.put(std::move(request)); });
}

// An agent whose job is at stage 2, and has kept stage 1, of one part.
struct LoneAgent {
  explicit LoneAgent(std::function<void(Part&)> body) {
    kept->add(1, records);
    mail->coordinator = mail->slices = runtime->system().spawn(agents_others_actor, &inbox);
    mail->agent = runtime->system().spawn(
        job_agent_actor, AgentOrder{mail, kept, tools, 2, 96 * mib, steady_clock(), {}, 1});
    StageSpec spec;
    spec.name = "sum";
    spec.parts = 2;
    spec.body = std::move(body);
    caf::anon_send(mail->agent,
                   BeginStage{2, std::make_shared<const StageSpec>(spec), nullptr, [](StageEnd) {}});
  }
  ~LoneAgent() {
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
    answer(slices, std::move(bytes));
  }
  void answer(const SlicesAre& slices, Tensor bytes = {}) const {
    ActorMessage letter;
    letter.type = message_type<SlicesAre>();
    letter.content = to_payload(slices);
    letter.payload = std::move(bytes);
    caf::anon_send(mail->agent, actorflow::Sender{TaskId{0}, 1}, std::move(letter));
  }

  AgentsInbox inbox;
  const std::shared_ptr<ThreadedRuntime> runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 1});
  const std::shared_ptr<JobMail> mail = std::make_shared<JobMail>(nullptr);
  const std::shared_ptr<KeptRecords> records = std::make_shared<KeptRecords>(1, 1, 1);
  const std::shared_ptr<KeptStages> kept = std::make_shared<KeptStages>();
  const JobTools tools{posix_storage(),
                       std::make_shared<ChunkStore>(posix_storage(), ChunkStoreOptions{mib, "", 0}), mib,
                       mib, std::make_shared<const std::atomic<bool>>(false)};
};

}  // namespace actorflow::test
