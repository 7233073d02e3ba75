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
  // credentials.
  MasterConnection(const std::string& target, std::int64_t connect_timeout_ms,
                   const std::string& credentials);

  // Blocks for the answer; a failure is its status.
  MasterReply call(MasterRequest request) const;

 private:
  std::optional<LocalMaster> local_;  // or
  std::unique_ptr<MasterClient> remote_;
};

}  // namespace actorflow
