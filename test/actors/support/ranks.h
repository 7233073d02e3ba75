// Ranks as threads of one process, each with the task that is its own.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "actors/collectives/communicator.h"
#include "actors/task/server.h"
#include "test/support/status_of.h"

namespace actorflow::test {

class Ranks {
 public:
  explicit Ranks(int size, CommunicatorOptions options = {}, int num_threads = 2)
      : size_(size), options_(std::move(options)), cluster_({{"worker", size}}, num_threads) {}

  Server& server(int rank) { return cluster_.server("worker", rank); }

  // Calls body on a thread for each rank. Rethrows an exception of one of them.
  void run(const std::function<void(Communicator&)>& body) {
    on_threads([&](int rank) {
      Communicator world(server(rank), options_);
      body(world);
    });
  }
  void on_threads(const std::function<void(int rank)>& body) const {
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size_));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank)
      threads.emplace_back([&, rank] {
        try {
          body(rank);
        } catch (...) {
          failures[static_cast<std::size_t>(rank)] = std::current_exception();
        }
      });
    for (auto& thread : threads) thread.join();
    for (const auto& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }
  // What each rank's body throws.
  std::vector<Status> statuses(const std::function<void(Communicator&)>& body) {
    std::vector<Status> all(static_cast<std::size_t>(size_));
    run([&](Communicator& world) {
      all[static_cast<std::size_t>(world.rank())] = status_of([&] { body(world); });
    });
    return all;
  }

 private:
  const int size_;
  const CommunicatorOptions options_;
  LocalCluster cluster_;
};

}  // namespace actorflow::test
