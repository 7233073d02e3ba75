#include "actors/collectives/engine/named_operation.h"

#include <span>

#include "dataflow/values/check.h"

namespace actorflow {

using namespace rank_messages;

NamedOperation::State NamedOperation::state() const {
  if (!use_) return State::idle;
  return use_->operation ? State::running : State::announced;
}

bool NamedOperation::nothing_waits() const {
  return !next && !wake && early_.empty() && on_board.pages.empty() && failed_.empty() &&
         propose_at_ <= used_;
}

std::optional<Status> NamedOperation::count_use() {
  ++used_;
  failed_.erase(failed_.begin(), failed_.lower_bound(used_));
  if (auto failed = failed_.extract(used_)) return std::move(failed.mapped());
  return {};
}

void NamedOperation::announce(GroupCall call, bool of_zeros, Clock::time_point now) {
  ACTORFLOW_CHECK(idle(), "'" + name_ + "' is called in its use", used_);
  use_.emplace(Use{.call = std::move(call), .of_zeros = of_zeros, .since = now});
}

bool NamedOperation::is_agreed() const {
  return agreed_ && agreed_->call == use_->call.call && propose_at_ != used_;
}

void NamedOperation::begin(const RankMail& mail) {
  ACTORFLOW_CHECK(state() == State::announced && agreed_, "'" + name_ + "' begins its use", used_);
  const SchedulePlan plan{agreed_->call.kind, mail.size(),     agreed_->call.root,
                          agreed_->algorithm, agreed_->chunks, agreed_->hosts};
  check_plan(plan);
  GroupCall& call = use_->call;
  call.call = agreed_->call;
  if (use_->of_zeros) call.own.tensor = Tensor::zeros(call.call.dtype, Shape(std::span(call.call.dims)));
  use_->operation = std::make_unique<Operation>(mail.task(), plan, mail.rank(), call.call, call.own);
  for (const auto& [part, payload] : early_)
    if (part.of.use == used_ && part.version == agreed_->version)
      use_->operation->receive(part.from, part.number, part.rows, payload);
  // A part for this use by a newer agreement comes before that.
  std::erase_if(early_, [&](const auto& early) {
    return std::pair(early.part.of.use, early.part.version) <= std::pair(used_, agreed_->version);
  });
}

bool NamedOperation::revise(const Revise& message) {
  if (version_ > message.version) return false;
  if (used_ < message.of.use) propose_at_ = message.of.use;
  if (!running() || used_ != message.of.use) return false;
  use_->operation.reset();
  return true;
}

bool NamedOperation::agree(const Agreed& message) {
  if (version_ >= message.version) return false;
  agreed_ = message;
  version_ = message.version;
  if (in_flight(message.of.use)) use_->operation.reset();
  return true;
}

bool NamedOperation::take(const Part& part, const Tensor& payload) {
  const bool this_use = use_ && part.of.use == used_;
  if (!this_use && part.of.use <= used_) return false;  // it is over
  if (!this_use || !running() || part.version != agreed_->version) {
    early_.push_back({part, payload});
    return false;
  }
  use_->operation->receive(part.from, part.number, part.rows, payload);
  return true;
}

bool NamedOperation::fail(const UseOf& of, const Status& why) {
  if (used_ < of.use) failed_.try_emplace(of.use, why);
  return in_flight(of.use);
}

GroupCall NamedOperation::end() {
  ACTORFLOW_CHECK(!idle(), "'" + name_ + "' ends its use", used_);
  GroupCall call = std::move(use_->call);
  use_.reset();
  on_board.to_look = false;
  return call;
}

}  // namespace actorflow
