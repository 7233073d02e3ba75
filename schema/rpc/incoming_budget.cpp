#include "schema/rpc/incoming_budget.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "dataflow/values/borrowed_buffer.h"
#include "dataflow/values/check.h"
#include "schema/rpc/window.h"

namespace actorflow {
namespace {

constexpr std::size_t max_named_peers = 3;

std::size_t half_of_memory() {
  const auto pages = std::max(sysconf(_SC_PHYS_PAGES), 0L),
             page_size = std::max(sysconf(_SC_PAGESIZE), 0L);
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_size) / 2;
}

std::size_t limit_of(const RpcOptions& options) {
  return options.incoming_budget_bytes > 0 ? options.incoming_budget_bytes
                                           : std::max(half_of_memory(), options.max_incoming_bytes);
}

}  // namespace

class IncomingBudget::Counted final : public Buffer {
 public:
  Counted(BufferRef bytes, std::size_t size_bytes, std::shared_ptr<Tally> tally)
      : Buffer(bytes->data(), size_bytes, borrower()),
        bytes_(std::move(bytes)),
        tally_(std::move(tally)) {}
  ~Counted() override {
    bytes_ = {};
    tally_->subtract(size_bytes());
  }

 private:
  BufferRef bytes_;
  const std::shared_ptr<Tally> tally_;
};

IncomingBudget::Room& IncomingBudget::Room::operator=(Room&& other) noexcept {
  free();
  tally_ = std::move(other.tally_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

BufferRef IncomingBudget::Room::take(BufferRef bytes, std::size_t size_bytes) {
  ACTORFLOW_CHECK(size_bytes <= bytes_, size_bytes);
  BufferRef counted(new Counted(std::move(bytes), size_bytes, tally_));
  bytes_ -= size_bytes;
  return counted;
}

void IncomingBudget::Room::free() noexcept {
  if (const auto rest = std::exchange(bytes_, 0); rest > 0) tally_->subtract(rest);
}

IncomingBudget::IncomingBudget(kj::Timer& timer, const RpcOptions& options)
    : timer_(timer),
      limit_bytes_(limit_of(options)),
      timeout_ms_(options.full_window_timeout_ms),
      warn_(options.on_warning) {}

IncomingBudget::Share IncomingBudget::share(const std::string& peer) {
  auto tally = std::make_shared<Tally>();
  tally->peer = peer;
  tally->all = all_;
  std::erase_if(tallies_, [](const auto& known) { return known.expired(); });
  tallies_.push_back(tally);
  return {shared_from_this(), std::move(tally)};
}

kj::Promise<IncomingBudget::Grant> IncomingBudget::Share::ask(std::size_t bytes) {
  IncomingBudget& budget = *budget_;
  budget.lend_to_waiting();  // some may wait no longer
  if (tally_->bytes == 0 || (budget.waiting_.empty() && budget.fits(bytes)))
    return Grant{{}, budget.lend(tally_, bytes)};
  auto granted = kj::newPromiseAndFulfiller<Grant>();
  budget.waiting_.push_back({tally_, bytes, budget.timer_.now(), kj::mv(granted.fulfiller)});
  if (!budget.is_watching_) budget.begin_watch();
  return kj::mv(granted.promise);
}

bool IncomingBudget::fits(std::size_t bytes) const {
  const std::size_t held = *all_;
  return held <= limit_bytes_ && bytes <= limit_bytes_ - held;
}

IncomingBudget::Room IncomingBudget::lend(const std::shared_ptr<Tally>& tally, std::size_t bytes) {
  tally->add(bytes);
  return {tally, bytes};
}

void IncomingBudget::released() {
  last_release_ = timer_.now();
  lend_to_waiting();
}

// One that does not fit holds up those behind it, or a large one would wait for ever.
void IncomingBudget::lend_to_waiting() {
  bool in_turn = true;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const bool gone = !it->grant->isWaiting();
    const bool granted = !gone && (it->tally->bytes == 0 || (in_turn && fits(it->bytes)));
    if (granted) it->grant->fulfill({{}, lend(it->tally, it->bytes)});
    in_turn = in_turn && (gone || granted);
    it = gone || granted ? waiting_.erase(it) : it + 1;
  }
}

void IncomingBudget::begin_watch() {
  seen_bytes_ = *all_;
  watching_ = watch().eagerlyEvaluate([this](kj::Exception&&) { give_up(); });
  is_watching_ = true;
}

// Looks every now and then, as long as somebody waits.
kj::Promise<void> IncomingBudget::watch() {
  const auto wait_ms = std::min(look_interval_ms, timeout_ms_);
  return timer_.afterDelay(wait_ms * kj::MILLISECONDS).then([this]() -> kj::Promise<void> {
    try {
      look();
    } catch (const std::bad_alloc&) {  // the next look may have the memory
    }
    if (!waiting_.empty()) return watch();
    is_watching_ = false;
    return kj::READY_NOW;
  });
}

// Where there is no memory to look again, nobody is left to wait for a look. Takes no memory itself: the
// text lies within its string.
void IncomingBudget::give_up() noexcept {
  is_watching_ = false;
  for (auto& waiting : waiting_)
    waiting.grant->fulfill({{Code::resource_exhausted, "out of memory"}, {}});
  waiting_.clear();
}

// Tensors of connections that have ended are given back without a call of released().
void IncomingBudget::look() {
  const std::size_t held = *all_;
  if (std::exchange(seen_bytes_, held) > held) last_release_ = timer_.now();
  lend_to_waiting();
  for (auto it = waiting_.begin(); it != waiting_.end();)
    it = refuse_or_report(*it) ? waiting_.erase(it) : it + 1;
}

// Whether the message has waited for too long and is refused. What waits is reported now and then.
bool IncomingBudget::refuse_or_report(Waiting& waiting) {
  const auto now = timer_.now();
  const auto waited = now - std::max(waiting.since, last_release_);
  const bool too_long = waited >= timeout_ms_ * kj::MILLISECONDS;
  if (!too_long && now < next_report_) return false;
  const std::string why = std::to_string(waiting.bytes) + " bytes of tensors wait: " + holders() +
                          ", takes " + std::to_string(limit_bytes_) +
                          " of all peers at a time (ServerOptions::incoming_budget_bytes), and has "
                          "given none back for " +
                          std::to_string(waited / kj::SECONDS) + " s";
  if (too_long) {
    waiting.grant->fulfill({{Code::resource_exhausted, why}, {}});
    return true;
  }
  next_report_ = now + report_interval;
  warn_("cannot take what " + waiting.tally->peer + " sends yet: " + why);
  return false;
}

// "this task holds 9000 bytes (6000 of /job:worker/task:1, 3000 of /job:ps/task:0)": those with most
// come first.
std::string IncomingBudget::holders() const {
  std::vector<std::pair<std::size_t, std::string>> peers;
  for (const auto& weak : tallies_)
    if (const auto tally = weak.lock(); tally && tally->bytes > 0)
      peers.emplace_back(tally->bytes, tally->peer);
  std::ranges::sort(peers, std::greater());
  std::string text = "this task holds " + std::to_string(*all_) + " bytes (";
  for (std::size_t i = 0; i < std::min(peers.size(), max_named_peers); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(peers[i].first) + " of " + peers[i].second;
  if (peers.size() > max_named_peers)
    text += " and of " + std::to_string(peers.size() - max_named_peers) + " more";
  return text + ")";
}

}  // namespace actorflow
