// What a coordinator makes of what tasks say, or cannot say.
#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/threaded_runtime.h"
#include "test/jobs/support/coordinator_inbox.h"
#include "test/support/log_lines.h"

BOOST_AUTO_TEST_SUITE(coordinators)

using namespace actorflow;
using test::FromTask, test::last_stage;

namespace {

// Goes as the steady clock does, and may be put forward.
class ForwardClock final : public Clock {
 public:
  time_point now() override { return steady_clock().now() + std::chrono::seconds(forward); }
  std::atomic<int> forward{0};
};

struct Coordinator {
  explicit Coordinator(StageSpec first = last_stage()) {
    mail->agent = runtime->system().spawn(test::agent_actor, &inbox);
    mail->coordinator = test::spawn_coordinator(*runtime, mail, stopped, reports, clock);
    begin(1, std::move(first));
  }
  ~Coordinator() { test::end_actors(*runtime, *mail, {mail->agent, mail->coordinator}); }
  void begin(StageNumber number, StageSpec spec) const {
    test::begin_stage(*mail, number, std::move(spec));
  }
  // From the task in its first life, or in a later one.
  template <class M>
  void say(M message, std::uint64_t life = 1) const {
    caf::anon_send(mail->coordinator, FromTask{TaskId{0}, life}, std::move(message));
  }
  // The task runs a part, which reads so many bytes. Returns which one.
  std::uint64_t make_part(std::uint64_t bytes_read, std::uint64_t life) {
    const auto run = inbox.run.take();
    BOOST_REQUIRE(run);
    say(PartRan{run->id, {}, {}}, life);
    BOOST_REQUIRE(inbox.accepted.take());
    WorkDone<std::uint64_t> work;
    work.bytes_read = bytes_read;
    say(PartMade{run->id, {}, {}, work}, life);
    return run->id.part;
  }

  ForwardClock clock;
  test::Inbox inbox;
  test::Reports reports;
  const std::shared_ptr<ThreadedRuntime> runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 1});
  const std::shared_ptr<JobMail> mail = std::make_shared<JobMail>(nullptr);
  const std::shared_ptr<const std::atomic<bool>> stopped =
      std::make_shared<const std::atomic<bool>>(false);
};

}  // namespace

// What a task says is too large for its link, whenever it has run the part again.
BOOST_AUTO_TEST_CASE(messages_that_never_come_end_the_job_and_say_why) {
  Coordinator coordinator;
  ActorMessage emptied;
  emptied.type = message_type<PartMade>();
  emptied.status = {Code::resource_exhausted, "a message of 300 bytes is over its limit of 200 bytes"};
  for (int i = 0; i < 4; ++i) {
    coordinator.say(StageReady{1, {}, 1}, 1);
    BOOST_TEST(coordinator.inbox.done.size() == 0u);
    BOOST_REQUIRE(coordinator.inbox.run.take());
    coordinator.say(emptied, 1);
  }
  const auto last = coordinator.reports.last.take();
  BOOST_REQUIRE(last);
  BOOST_TEST(last->done == 0u);
  coordinator.say(StageReady{1, {}, 1}, 1);
  const auto done = coordinator.inbox.done.take();
  BOOST_REQUIRE(done);
  BOOST_TEST((done->status.code == Code::resource_exhausted));
  for (const char* expected :
       {"4 messages", "this process", "of 300 bytes is over its limit of 200 bytes"})
    BOOST_TEST(done->status.message.find(expected) != std::string::npos, done->status.message);
}

BOOST_AUTO_TEST_CASE(of_a_part_that_fails_for_several_reasons_only_those_of_a_disk_count_as_refusals) {
  StageSpec stage = last_stage();
  stage.parts = 1;
  Coordinator coordinator(stage);
  coordinator.say(StageReady{1, {}, 1});
  for (int attempt = 0; attempt < 4; ++attempt) {
    const auto run = coordinator.inbox.run.take();
    BOOST_REQUIRE(run);
    PartRan ran{run->id, {Code::resource_exhausted, "there is no memory"}, {}};
    if (attempt >= 2) ran = {run->id, {Code::disk_error, "cannot write 'out'"}, {}, {}, true};
    coordinator.say(ran);
  }
  const auto done = coordinator.inbox.done.take();
  BOOST_REQUIRE(done);
  BOOST_TEST(done->status.message.starts_with(
                 "write: part 0 of 1: cannot write 'out'; the disk has refused 2 times: have it looked"),
             done->status.message);
}

// The other part is not made: there would be ever more for the program, which takes none of it.
BOOST_AUTO_TEST_CASE(a_stage_with_more_results_than_it_may_have_ends_at_once) {
  StageSpec stage = last_stage();
  stage.limit = ResultLimit{9, {Code::resource_exhausted, "too much"}};
  Coordinator coordinator(stage);
  coordinator.say(StageReady{1, {}, 1});
  const auto run = coordinator.inbox.run.take();
  BOOST_REQUIRE(run);
  coordinator.say(PartRan{run->id, {}, {}});
  BOOST_REQUIRE(coordinator.inbox.accepted.take());
  PartMade made;
  made.id = run->id;
  made.outcome.result.resize(10);
  coordinator.say(made);
  const auto done = coordinator.inbox.done.take();
  BOOST_REQUIRE(done);
  BOOST_TEST((done->status.code == Code::resource_exhausted));
  BOOST_TEST(done->status.message == "too much");
  BOOST_TEST(done->outcomes.empty());
}

// Of two parts that run, the other one fails.
BOOST_AUTO_TEST_CASE(the_slowest_part_is_named_with_what_it_reads) {
  StageSpec shuffle = last_stage(), reader = last_stage();
  shuffle.parts = 1;
  shuffle.partitions = 2;
  shuffle.keeps = true;
  reader.input_bytes = 10'000'000;
  reader.inputs = [](std::size_t part) { return std::vector{SliceSet{1, false, part}}; };
  Coordinator coordinator(shuffle);
  coordinator.say(StageReady{1, {}, 2});
  const auto shuffled = coordinator.inbox.run.take();
  BOOST_REQUIRE(shuffled);
  coordinator.say(PartRan{shuffled->id, {}, {}});
  BOOST_REQUIRE(coordinator.inbox.accepted.take());
  PartMade made;
  made.id = shuffled->id;
  made.heaviest = {{1, 9'000'000}, {0, 1'000'000}};
  made.heavy_key = {1, 8'000'000, "'the'"};
  coordinator.say(made);
  BOOST_REQUIRE(coordinator.reports.last.take());

  coordinator.begin(2, reader);
  coordinator.say(StageReady{2, {}, 2});
  for (int part = 0; part < 2; ++part) {
    const auto run = coordinator.inbox.run.take();
    BOOST_REQUIRE(run);
    if (part == 1) coordinator.clock.forward = 10;
    if (part == 1) coordinator.say(PartRan{{2, 0, 0}, {Code::unknown, "no"}, {}});
  }
  const auto last = coordinator.reports.last.take();
  BOOST_REQUIRE(last);
  BOOST_TEST(last->slowest.starts_with("part 1 at this process since "), last->slowest);
  BOOST_TEST(last->slowest.ends_with(", which reads 9.0 MB or more, 90 % of the stage's input, most of "
                                     "it of the key 'the'"),
             last->slowest);
}

BOOST_AUTO_TEST_CASE(what_a_lost_task_has_done_of_a_last_stage_counts_with_its_parts) {
  Coordinator coordinator;
  coordinator.say(StageReady{1, {}, 1});
  const auto first = coordinator.make_part(100, 1);
  AgentProgress progress;  // of an attempt that comes to nothing
  progress.stage = 1;
  progress.work.bytes_read = 7;
  progress.busy_seconds = 3;
  progress.bytes_spilled = 50;
  BOOST_REQUIRE(coordinator.inbox.run.take());
  coordinator.say(progress);
  caf::anon_send(coordinator.mail->coordinator,
                 PeerLost{TaskId{0}, 1, {Code::unavailable, "it has been killed"}});
  coordinator.say(StageReady{1, {}, 1}, 2);
  BOOST_TEST(coordinator.make_part(20, 2) == 1 - first);
  const auto last = coordinator.reports.last.take();
  BOOST_REQUIRE(last);
  BOOST_TEST(last->done == 2u);
  BOOST_TEST(last->bytes_read == 120u);
  BOOST_TEST(last->busy_seconds == 3);
  BOOST_TEST(last->bytes_spilled == 50u);
}

// The agent says how long it was busy, and how much it has put aside, since it began.
BOOST_AUTO_TEST_CASE(what_is_said_again_after_a_message_did_not_come_counts_once) {
  Coordinator coordinator;
  coordinator.say(StageReady{1, {}, 1});
  AgentProgress progress;
  progress.by = 9;
  progress.stage = 1;
  progress.busy_seconds = 3;
  progress.bytes_spilled = 50;
  BOOST_REQUIRE(coordinator.inbox.run.take());
  coordinator.say(progress);
  ActorMessage emptied;
  emptied.type = message_type<PartMade>();
  emptied.status = {Code::resource_exhausted, "a message of 300 bytes is over its limit of 200 bytes"};
  coordinator.say(emptied);
  coordinator.say(StageReady{1, {}, 1});
  progress.busy_seconds = 4;
  coordinator.say(progress);
  progress.by = 10;  // in the same process the program has begun anew
  progress.bytes_spilled = 7;
  coordinator.say(progress);
  coordinator.make_part(0, 1);
  coordinator.make_part(0, 1);
  const auto last = coordinator.reports.last.take();
  BOOST_REQUIRE(last);
  BOOST_TEST(last->busy_seconds == 8);
  BOOST_TEST(last->bytes_spilled == 57u);
}

// Both parts of the first stage are to be made again when one of them cannot be: the program gives up
// both stages, and the task has room for two parts as before.
BOOST_AUTO_TEST_CASE(what_runs_for_a_forgotten_stage_takes_nobodys_place) {
  StageSpec read = last_stage(), sum = last_stage();
  read.keeps = true;
  sum.inputs = [](std::size_t part) { return std::vector{SliceSet{1, true, part}}; };
  Coordinator coordinator(read);
  coordinator.say(StageReady{1, {}, 2});
  coordinator.make_part(0, 1);
  coordinator.make_part(0, 1);
  BOOST_REQUIRE(coordinator.reports.last.take());
  coordinator.begin(2, sum);
  coordinator.say(StageReady{2, {}, 2}, 2);
  const auto bad = coordinator.inbox.run.take();
  BOOST_REQUIRE((bad && coordinator.inbox.run.take()));
  coordinator.say(PartRan{bad->id, {Code::unknown, "no"}, {}}, 2);
  BOOST_REQUIRE(coordinator.reports.last.take());
  for (const StageNumber stage : {2, 1})
    caf::anon_send(coordinator.mail->coordinator, ForgetStage{stage});
  coordinator.begin(3, last_stage());
  coordinator.say(StageReady{3, {}, 2}, 2);
  for (int part = 0; part < 2; ++part) {
    const auto run = coordinator.inbox.run.take();
    BOOST_REQUIRE(run);
    BOOST_TEST(run->id.stage == 3u);
  }
}

// The task comes back in another life, without what it had made.
BOOST_AUTO_TEST_CASE(a_part_that_is_made_again_and_differs_ends_the_job_and_is_named) {
  StageSpec read = last_stage(), sum = last_stage();
  read.name = "read_text, map";
  read.operators = {"read_text at words.cpp:3", "map at words.cpp:4"};
  read.keeps = true;
  sum.inputs = [](std::size_t part) { return std::vector{SliceSet{1, false, part}}; };
  Coordinator coordinator(read);
  coordinator.say(StageReady{1, {}, 1});
  coordinator.make_part(0, 1);
  coordinator.make_part(0, 1);
  const auto well = coordinator.inbox.done.take();
  BOOST_REQUIRE((well && well->status.ok()));
  coordinator.begin(2, sum);
  coordinator.say(StageReady{2, {}, 1}, 2);
  const auto again = coordinator.inbox.run.take();
  BOOST_REQUIRE(again);
  BOOST_TEST(again->id.stage == 1u);
  coordinator.say(PartRan{again->id, {}, {}}, 2);
  BOOST_REQUIRE(coordinator.inbox.accepted.take());
  PartMade made;
  made.id = again->id;
  made.outcome.checksum = 7;
  coordinator.say(made, 2);
  const auto done = coordinator.inbox.done.take();
  BOOST_REQUIRE(done);
  BOOST_TEST(done->stage == 2u);
  BOOST_TEST((done->status.code == Code::internal));
  BOOST_TEST(done->status.message ==
             "read_text, map: part " + std::to_string(again->id.part) +
                 " of 2 is not deterministic: made again after a loss, it has made something else. "
                 "Functions of a job must depend on their arguments only; those of this stage: "
                 "read_text at words.cpp:3, map at words.cpp:4");
}

// The stage that deals out the records has two parts, of which the share is made.
BOOST_AUTO_TEST_CASE(a_task_that_comes_back_hears_of_its_share_when_that_is_made) {
  StageSpec dealt = last_stage(), share = last_stage();
  dealt.keeps = share.keeps = true;
  share.parts = 1;
  share.owners = {0};
  share.inputs = [](std::size_t) { return std::vector{SliceSet{1, false, 0}}; };
  Coordinator coordinator(dealt);
  coordinator.say(StageReady{3, {}, 1});  // so that it hears of no end, which is kept for later lives
  coordinator.make_part(0, 1);
  coordinator.make_part(0, 1);
  BOOST_REQUIRE(coordinator.reports.last.take());
  coordinator.begin(2, share);
  coordinator.make_part(0, 1);
  BOOST_REQUIRE(coordinator.reports.last.take());
  coordinator.say(StageReady{2, {}, 1}, 2);
  for (int part = 0; part < 3; ++part) {
    BOOST_TEST(coordinator.inbox.done.size() == 0u);
    coordinator.make_part(0, 2);
  }
  const auto done = coordinator.inbox.done.take();
  BOOST_REQUIRE(done);
  BOOST_TEST(done->stage == 2u);
  BOOST_TEST(done->status.ok(), done->status.to_string());
}

// No stage runs, so the job has not failed; the coordinator says why the task ends.
BOOST_AUTO_TEST_CASE(a_task_that_cannot_get_its_share_again_ends_and_is_told_why) {
  StageSpec share = last_stage();
  share.parts = 1;
  share.keeps = true;
  share.owners = {0};
  test::LogLines log;
  Coordinator coordinator(share);
  coordinator.say(StageReady{2, {}, 1});  // so that it hears of no end, which is kept for later lives
  coordinator.make_part(0, 1);
  BOOST_REQUIRE(coordinator.reports.last.take());
  coordinator.say(StageReady{1, {}, 1}, 2);
  const auto run = coordinator.inbox.run.take();
  BOOST_REQUIRE(run);
  coordinator.say(PartRan{run->id, {Code::permission_denied, "cannot create 'x'"}, {}, {}, true}, 2);
  const auto done = coordinator.inbox.done.take();
  BOOST_REQUIRE(done);
  BOOST_TEST((done->status.code == Code::permission_denied));
  BOOST_TEST(log.all().find("cannot create 'x'; it ends the tasks that catch up") != std::string::npos,
             log.all());
}

BOOST_AUTO_TEST_SUITE_END()
