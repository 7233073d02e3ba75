#include "schema/rpc/port/counted_warnings.h"

#include <utility>

namespace actorflow {
namespace {

constexpr int interval_s = 10;
constexpr std::size_t most_reasons = 32;  // some quote what the stranger has sent

}  // namespace

void CountedWarnings::closed(const std::string& who, const std::string& reason) {
  const bool is_first = more_.empty();
  const bool known = more_.contains(reason) || more_.size() < most_reasons;
  const auto [count, is_new] = more_.try_emplace(known ? reason : "other reasons", 0);
  if (is_new)
    warn_("closed the connection from " + who + ": " + reason);
  else
    ++count->second;
  if (is_first)
    telling_ = timer_.afterDelay(interval_s * kj::SECONDS)
                   .then([this] { tell_counts(); })
                   .eagerlyEvaluate(nullptr);
}

void CountedWarnings::tell_counts() {
  for (const auto& [reason, more] : std::exchange(more_, {}))
    if (more > 0)
      warn_("closed " + std::to_string(more) + " more connections within " + std::to_string(interval_s) +
            " s: " + reason);
}

}  // namespace actorflow
