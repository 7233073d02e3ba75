#include "actors/simulation/sim_checks.h"

#include <fmt/format.h>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void expect(const std::string& name, const std::function<bool()>& holds, World::Time now) {
  std::string why = "it is false";
  try {
    if (holds()) return;
  } catch (const std::exception& error) {
    why = error.what();
  }
  throw Error(Code::internal,
              fmt::format("'{}' does not hold at {:.6f} s: {}", name,
                          std::chrono::duration<double>(now - World::beginning).count(), why));
}

}  // namespace

void SimChecks::check_due(World::Time now) {
  for (auto& check : checks_)
    if (now >= check.next) {
      expect(check.name, check.holds, now);
      check.next = now + check.every;
    }
}

void SimChecks::check_all(World::Time now) const {
  for (const auto& check : checks_) expect(check.name, check.holds, now);
}

}  // namespace actorflow
