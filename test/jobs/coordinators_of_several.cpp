// What a coordinator makes of what several tasks say.
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/core/ask.h"
#include "actors/named/switchboard.h"
#include "actors/task/server.h"
#include "test/jobs/support/coordinator_inbox.h"

BOOST_AUTO_TEST_SUITE(coordinators_of_several)

using namespace actorflow;
using test::FromTask, test::last_stage;

namespace {

// The agent of another task, to which the coordinator writes letters.
caf::behavior letters_actor(test::AnAgentActor* self, test::Inbox* inbox) {
  self->state = std::make_unique<test::AnAgent>(self);
  return guarded(
      self, self->state.get(),
      [inbox](const FromTask&, ActorMessage& letter) {
        take_letter<RunPart>(letter, [inbox](RunPart run) { inbox->run.put(std::move(run)); });
        take_letter<AcceptPart>(letter, [inbox](AcceptPart part) { inbox->accepted.put(part); });
        take_letter<StageDone>(letter, [inbox](StageDone done) { inbox->done.put(std::move(done)); });
      },
      [](const PeerLost&) {});
}

// A coordinator of three tasks.
struct Coordinator {
  explicit Coordinator(StageSpec first) {
    mail->agent = runtime.system().spawn(test::agent_actor, inboxes.data());
    actors.push_back(mail->agent);
    for (int task = 1; task < 3; ++task) add_agent(task);
    mail->coordinator = test::spawn_coordinator(runtime, mail, stopped, reports);
    actors.push_back(mail->coordinator);
    begin(1, std::move(first));
  }
  ~Coordinator() { test::end_actors(runtime, *mail, actors); }
  void begin(StageNumber number, StageSpec spec) const {
    test::begin_stage(*mail, number, std::move(spec));
  }
  template <class M>
  void say(std::size_t task, M message, std::uint64_t life = 1) const {
    caf::anon_send(mail->coordinator, FromTask{static_cast<TaskId>(task), life}, std::move(message));
  }
  // What the task is told to run next.
  AttemptId run(std::size_t task) {
    const auto run = inboxes.at(task).run.take();
    BOOST_REQUIRE(run);
    return run->id;
  }
  void let_count(std::size_t task, const AttemptId& id) {
    say(task, PartRan{id, {}, {}});
    BOOST_REQUIRE(inboxes.at(task).accepted.take());
  }
  void make(std::size_t task, const AttemptId& id) {
    let_count(task, id);
    say(task, PartMade{id, {}, {}, {}});
  }
  void end_of_stage() { BOOST_REQUIRE(reports.last.take()); }

  LocalCluster cluster{{{"worker", 3}}, 2};
  Runtime& runtime = *cluster.server("worker", 0).runtime();
  std::array<test::Inbox, 3> inboxes;
  test::Reports reports;
  const std::shared_ptr<JobMail> mail = std::make_shared<JobMail>(cluster.server("worker", 0).context());
  const std::shared_ptr<const std::atomic<bool>> stopped =
      std::make_shared<const std::atomic<bool>>(false);
  std::vector<caf::actor> actors;

 private:
  void add_agent(int task) {
    const auto actor =
        runtime.system().spawn(letters_actor, &inboxes.at(static_cast<std::size_t>(task)));
    actors.push_back(actor);
    const auto status = ask<Status>(runtime, [&](auto reply) {
      caf::anon_send(cluster.server("worker", task).context()->switchboard,
                     RegisterActor{JobMail::agent_name, actor, reply});
    });
    BOOST_REQUIRE((status && status->ok()));
  }
};

const Status disk_is_full{Code::resource_exhausted, "No space left on device"};

}  // namespace

// A slow part runs twice: the attempt that was faster counts, the other one is refused, and then the
// files of the first one cannot take their places.
BOOST_AUTO_TEST_CASE(a_part_runs_again_that_fails_when_its_other_attempt_was_refused) {
  Coordinator coordinator(last_stage());
  coordinator.say(0, StageReady{1, {}, 1});
  const auto first = coordinator.run(0), slow = coordinator.run(0);
  coordinator.make(0, first);
  coordinator.say(1, StageReady{1, {}, 1});
  const auto second = coordinator.run(1);
  BOOST_TEST(second.part == slow.part);
  coordinator.let_count(0, slow);
  coordinator.say(1, PartRan{second, {}, {}});
  coordinator.say(0, PartMade{slow, disk_is_full, {}, {}});
  const auto third = coordinator.run(1);
  BOOST_TEST(third.part == slow.part);
  coordinator.make(1, third);
  coordinator.end_of_stage();
}

BOOST_AUTO_TEST_CASE(what_one_disk_forbids_is_done_elsewhere_and_what_all_forbid_ends_the_job) {
  StageSpec stage = last_stage();
  stage.parts = 1;
  const auto forbidden_at = [](const Coordinator& coordinator, std::size_t task, const AttemptId& id) {
    coordinator.say(task, PartRan{id, {Code::permission_denied, "cannot create 'out/x'"}, {}, {}, true});
  };
  for (const std::size_t with_bad_disks : {1, 3}) {
    Coordinator coordinator(stage);
    for (std::size_t task = 0; task < 3; ++task) coordinator.say(task, StageReady{1, {}, 1});
    for (std::size_t task = 0; task < with_bad_disks; ++task)
      forbidden_at(coordinator, task, coordinator.run(task));
    if (with_bad_disks < 3) coordinator.make(with_bad_disks, coordinator.run(with_bad_disks));
    const auto done = coordinator.inboxes[0].done.take();
    BOOST_REQUIRE(done);
    BOOST_TEST((done->status.code == (with_bad_disks < 3 ? Code::ok : Code::permission_denied)),
               done->status.to_string());
  }
}

// The share of task 1 is made again; so is what it is made of, which no disk takes at first. Task 2 is
// there, but its program is at an earlier stage.
BOOST_AUTO_TEST_CASE(a_part_is_tried_again_where_it_has_failed_if_no_other_task_can_run_it) {
  StageSpec dealt = last_stage(), share = last_stage();
  dealt.parts = share.parts = 1;
  dealt.keeps = share.keeps = true;
  share.owners = {1};
  share.inputs = [](std::size_t) { return std::vector{SliceSet{2, true, 0}}; };
  Coordinator coordinator(dealt);
  coordinator.say(2, StageReady{1, {}, 1});
  coordinator.make(2, coordinator.run(2));
  coordinator.end_of_stage();
  coordinator.begin(2, dealt);
  coordinator.say(1, StageReady{2, {}, 1});
  coordinator.make(1, coordinator.run(1));
  coordinator.end_of_stage();
  coordinator.begin(3, share);
  for (const std::size_t task : {0, 1}) coordinator.say(task, StageReady{3, {}, 1});
  coordinator.make(1, coordinator.run(1));
  coordinator.end_of_stage();

  coordinator.say(1, StageReady{3, {}, 1}, 2);
  for (const std::size_t task : {0, 1})
    coordinator.say(task, PartRan{coordinator.run(task), disk_is_full, {}});
  const auto again = coordinator.run(0);
  BOOST_TEST(again.stage == 2u);
  coordinator.make(0, again);
  const auto own = coordinator.run(1);
  BOOST_TEST(own.stage == 3u);
  coordinator.make(1, own);
}

BOOST_AUTO_TEST_CASE(a_process_that_comes_in_the_place_of_another_has_all_tries_for_its_share) {
  StageSpec share = last_stage();
  share.parts = 1;
  share.keeps = true;
  share.owners = {1};
  Coordinator coordinator(share);
  constexpr std::uint64_t lives = 3;
  for (std::uint64_t life = 1; life <= lives; ++life) {
    coordinator.say(1, StageReady{1, {}, 1}, life);
    for (unsigned failures = 1; failures < most_attempts; ++failures)
      coordinator.say(1, PartRan{coordinator.run(1), {Code::unavailable, "out of reach"}, {}}, life);
  }
  const AttemptId last = coordinator.run(1);
  coordinator.say(1, PartRan{last, {}, {}}, lives);
  BOOST_REQUIRE(coordinator.inboxes[1].accepted.take());
  coordinator.say(1, PartMade{last, {}, {}, {}}, lives);
  coordinator.end_of_stage();
}

BOOST_AUTO_TEST_SUITE_END()
