// A program of its own actors: the tasks of a cluster elect a leader, one per term at most, by the votes
// of more than half of them (Ongaro and Ousterhout, "In search of an understandable consensus
// algorithm", 2014, section 5.2, without its log). It takes time, chance and disk from the runtime of
// its server, and so runs in a simulation as on real processes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "actors/actorflow.h"

namespace election {

using namespace actorflow;
using namespace std::chrono_literals;

struct Begin {};
struct VoteWanted {
  std::int64_t term;
  std::string candidate;
};
struct Vote {
  bool granted;
};
struct Leading {  // what a leader says every 50 ms
  std::int64_t term;
};

struct NodeOptions {
  // Is told each time that this node has won a term.
  std::function<void(std::int64_t term, const std::string& leader)> won;
  std::string folder = "votes";  // of a file per task
  bool remembers = true;         // its vote, when it dies; false: a bug that is planted for a test
};

class Node final : public NamedActor {
 public:
  Node(Server& server, NodeOptions options)
      : runtime_(*server.runtime()),
        tasks_(server.cluster().all_tasks()),
        options_(std::move(options)),
        file_(options_.folder + "/" + server.name().job + "-" + std::to_string(server.name().index)) {
    if (options_.remembers && runtime_.storage().exists(file_)) recall();
    on([this](const Begin&) { wait_for_leader(); });
    on([this](const VoteWanted& wanted) { return Vote{vote(wanted)}; });
    on([this](const Leading& leading) {
      if (leading.term < term_) return;
      follow(leading.term);
      ++signs_of_life_;
    });
  }

 private:
  void recall() {
    const auto bytes = runtime_.storage().read(file_);
    std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    text >> term_ >> voted_for_;
  }

  // Before anybody hears of it.
  void remember() {
    if (!options_.remembers) return;
    const std::string text = std::to_string(term_) + " " + voted_for_;
    runtime_.storage().write_atomically(file_, std::as_bytes(std::span(text)));
  }

  void follow(std::int64_t term) {
    leads_ = false;
    if (term == term_) return;
    term_ = term;
    voted_for_.clear();
  }

  bool vote(const VoteWanted& wanted) {
    if (wanted.term < term_) return false;
    if (wanted.term > term_) follow(wanted.term);
    if (!voted_for_.empty() && voted_for_ != wanted.candidate) return false;
    voted_for_ = wanted.candidate;
    remember();
    ++signs_of_life_;
    return true;
  }

  void wait_for_leader() {
    const auto patience = 150ms + std::chrono::milliseconds(runtime_.random().next() % 150);
    after(patience, [this, seen = signs_of_life_] {
      if (!leads_ && signs_of_life_ == seen) stand_for_election();
      wait_for_leader();
    });
  }

  void stand_for_election() {
    follow(term_ + 1);
    voted_for_ = task().to_string();
    remember();
    const auto votes = std::make_shared<std::size_t>(1);
    for (const auto& other : tasks_)
      if (other != task())
        ask<Vote>(
            other.to_string(), "node", VoteWanted{term_, task().to_string()},
            [this, votes, term = term_](const Status& status, const Vote& vote) {
              if (status.ok() && vote.granted) ++*votes;
              if (term == term_ && !leads_ && 2 * *votes > tasks_.size()) lead();
            },
            1s);
  }

  void lead() {
    leads_ = true;
    options_.won(term_, task().to_string());
    say_so();
  }

  void say_so() {
    if (!leads_) return;
    for (const auto& other : tasks_)
      if (other != task()) tell(other.to_string(), "node", Leading{term_});
    after(50ms, [this] { say_so(); });
  }

  Runtime& runtime_;
  const std::vector<TaskName> tasks_;
  const NodeOptions options_;
  const std::string file_;
  std::int64_t term_ = 0;
  std::string voted_for_;
  bool leads_ = false;
  std::uint64_t signs_of_life_ = 0;
};

// Makes the task a node, until the job ends.
inline void run_node(Server& server, const NodeOptions& options) {
  server.spawn("node", [&server, options] { return std::make_unique<Node>(server, options); });
  server.find(server.name().to_string(), "node").tell(Begin{});
  server.join();
}

}  // namespace election
