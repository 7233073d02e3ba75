#include "actors/jobs/engine/stage_coordinator.h"

#include <fmt/format.h>

#include <caf/send.hpp>
#include <chrono>
#include <utility>

namespace actorflow {
namespace {

constexpr auto report_interval = std::chrono::milliseconds(500);

// The machine may answer better next time; a mistake of the job or its input would only be made again.
bool may_pass(Code code) {
  return code == Code::disk_error || code == Code::resource_exhausted || code == Code::unavailable;
}

}  // namespace

StageCoordinator::StageCoordinator(GuardedActor* self, StageOrder order)
    : self_(self),
      order_(std::move(order)),
      tracker_(order_.stage->parts),
      outcomes_(order_.stage->parts) {}

caf::behavior StageCoordinator::behavior() {
  self_->introduce("stage-coordinator", nullptr);
  alive_ = caf::actor_cast<caf::actor>(self_);
  began_ = order_.clock.now();
  self_->delayed_send(self_, report_interval, Tick{});
  begin();
  return guarded(
      self_, this,  //
      [this](const PartRan& ran) { on_ran(ran); }, [this](PartMade& made) { on_made(made); },
      [this](Tick) {
        if (*order_.tools.stopped) fail({Code::cancelled, "the job was stopped"});
        report(false);
        self_->delayed_send(self_, report_interval, Tick{});
      });
}

void StageCoordinator::begin() {
  assign();
  if (tracker_.finished()) end();
}

void StageCoordinator::assign() {
  while (status_.ok() && running_.size() < order_.slots) {
    const auto attempt = tracker_.next();
    if (!attempt) return;
    PartAssignment assignment{*attempt, order_.stage, progress_, order_.tools, skips_[attempt->part]};
    running_[attempt->part] = self_->spawn(part_actor, std::move(assignment), alive_);
  }
}

void StageCoordinator::on_ran(const PartRan& ran) {
  if (!ran.status.ok()) return on_failed(ran.attempt, ran.status, ran.bad_record);
  caf::anon_send(running_.at(ran.attempt.part), AcceptPart{});
}

void StageCoordinator::on_made(PartMade& made) {
  if (!made.status.ok()) return on_failed(made.attempt, made.status, {});
  running_.erase(made.attempt.part);
  tracker_.accept(made.attempt);
  outcomes_[made.attempt.part] = std::move(made.outcome);
  assign();
  if (running_.empty() && (tracker_.finished() || !status_.ok())) end();
}

void StageCoordinator::on_failed(const PartAttempt& attempt, const Status& why,
                                 std::optional<std::uint64_t> bad_record) {
  running_.erase(attempt.part);
  ++failed_;
  const unsigned attempts = tracker_.again(attempt);
  const bool skipped = bad_record && order_.take_skip();
  if (skipped)
    skips_[attempt.part].insert(*bad_record);
  else if (!may_pass(why.code) || attempts - skips_[attempt.part].size() >= order_.max_attempts)
    fail({why.code, fmt::format("{}: part {} of {}: {}", order_.stage->name, attempt.part,
                                order_.stage->parts, why.message)});
  assign();
  if (running_.empty() && !status_.ok()) end();
}

// The first reason stays.
void StageCoordinator::fail(Status why) {
  if (status_.ok()) status_ = std::move(why);
  if (running_.empty()) end();
}

void StageCoordinator::refuse(const PartRan& ran, Status why) { on_failed(ran.attempt, why, {}); }

void StageCoordinator::refuse(const PartMade& made, Status why) { on_failed(made.attempt, why, {}); }

void StageCoordinator::report(bool is_last) {
  if (!order_.reporter) return;
  StageReport report;
  report.stage = order_.stage->id;
  report.name = order_.stage->name;
  report.parts = tracker_.parts();
  report.done = tracker_.accepted();
  report.running = running_.size();
  report.failed = failed_;
  report.records_read = progress_->records_read;
  report.bytes_read = progress_->bytes_read;
  report.input_bytes = order_.stage->input_bytes;
  report.bytes_spilled = order_.tools.chunks->spilled_bytes();
  report.bytes_in_memory = order_.tools.chunks->memory_in_use();
  report.seconds = std::chrono::duration<double>(order_.clock.now() - began_).count();
  report.is_last = is_last;
  order_.reporter->report(report);
}

void StageCoordinator::end() {
  if (!order_.reply) return;
  report(true);
  std::exchange(order_.reply, nullptr)(status_, std::move(outcomes_));
  alive_ = nullptr;
  self_->quit();
}

caf::behavior stage_coordinator_actor(StageCoordinatorActor* self, StageOrder order) {
  self->state = std::make_unique<StageCoordinator>(self, std::move(order));
  return self->state->behavior();
}

}  // namespace actorflow
