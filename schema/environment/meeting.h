// Rank 0's side of the meeting of a job's ranks. Internal to schema/: includes kj.
#pragma once

#include <kj/async-io.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/address.h"
#include "schema/environment/launched_rank.h"

namespace actorflow {

// What a rank says about itself and the job.
struct RankIntroduction {
  int rank = 0, size = 0, parameter_servers = 0;
  std::uint16_t port = 0;
};

// Used on the thread of its event loop. Its destructor ends all connections.
class Meeting : private kj::TaskSet::ErrorHandler {
 public:
  // Waits for the others at the socket, which it owns. `port` is where rank 0's own server will listen.
  Meeting(kj::AsyncIoContext& io, const LaunchedRank& self, std::uint16_t port,
          const ListenSocket& socket);
  ~Meeting();

  // Resolves when all ranks have come, or something was wrong with one of them.
  kj::Promise<void> over() { return over_.addBranch(); }
  // Ends the meeting without those who are missing.
  void give_up(const std::string& after);
  // Resolves when all ranks that came have taken their answer and closed their connections.
  kj::Promise<void> all_gone();

  // "ranks 2, 3 of 4".
  std::string missing() const;
  // The result. Valid when over() has resolved.
  const Status& status() const { return status_; }
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  class Entrance;
  class Table;
  struct Visitor;
  // A rank that has come, and by which connection.
  struct Seat {
    std::uint64_t visitor = 0;
    std::uint16_t port = 0;
  };

  kj::Promise<void> accept();
  void admit(kj::Own<kj::AsyncIoStream> socket);
  void drop(std::uint64_t visitor);
  Status sit_down(std::uint64_t visitor, const RankIntroduction& rank);
  void end(Status status);
  std::vector<std::string> addresses_of_all() const;
  void taskFailed(kj::Exception&&) override {}

  kj::AsyncIoContext& io_;
  const LaunchedRank self_;
  const std::uint16_t port_;
  kj::Own<kj::ConnectionReceiver> receiver_;
  kj::Own<kj::PromiseFulfiller<void>> end_;
  kj::ForkedPromise<void> over_;
  kj::Own<kj::PromiseFulfiller<void>> empty_;  // null until somebody waits for it
  Status status_;
  bool is_over_ = false;
  std::vector<std::string> addresses_;
  std::map<int, Seat> seats_;
  std::uint64_t next_visitor_ = 0;
  std::map<std::uint64_t, kj::Own<Visitor>> visitors_;
  kj::TaskSet tasks_;
};

}  // namespace actorflow
