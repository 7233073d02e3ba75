// Connections of clients to masters, in this process or elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/task/local_servers.h"
#include "schema/rpc/master_client.h"

namespace actorflow {

// Thread-safe.
class MasterConnection {
 public:
  // Throws invalid_argument for a text that is no target, and what MasterClient throws, which uses the
  // credentials. `step_timeout_ms`: of the steps that will be run, 0 = none. A master elsewhere that is
  // stopped keeps no time: it counts as lost once it has been silent for as long as a step may take, but
  // not before 10 s, and at the latest after 30 s.
  MasterConnection(const std::string& target, std::int64_t connect_timeout_ms,
                   const std::string& credentials, std::int64_t step_timeout_ms = 0);

  // Blocks for the answer; a failure is its status.
  MasterReply call(MasterRequest request) const;

 private:
  std::optional<LocalMaster> local_;  // or
  std::unique_ptr<MasterClient> remote_;
};

}  // namespace actorflow
