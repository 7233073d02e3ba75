#include "actors/master/inquiries.h"

#include <utility>

#include "dataflow/values/check.h"

namespace actorflow {

std::uint64_t Inquiries::begin(const std::vector<TaskId>& tasks, Then then) {
  ACTORFLOW_CHECK(!tasks.empty(), "inquiry", next_, "of nobody");
  const auto number = next_++;
  inquiries_[number] = {{tasks.begin(), tasks.end()}, std::move(then)};
  return number;
}

void Inquiries::answered(std::uint64_t number, TaskId task) {
  const auto found = inquiries_.find(number);
  if (found == inquiries_.end()) return;
  found->second.missing.erase(task);
  if (!found->second.missing.empty()) return;
  const Then then = std::move(found->second.then);
  inquiries_.erase(found);
  then({});
}

void Inquiries::on_peer_lost(const PeerLost& message) {
  std::vector<Then> failed;  // called last, since they may begin new inquiries
  std::erase_if(inquiries_, [&](auto& entry) {
    if (!entry.second.missing.contains(message.task)) return false;
    failed.push_back(std::move(entry.second.then));
    return true;
  });
  for (const auto& then : failed) then(message.reason);
}

}  // namespace actorflow
