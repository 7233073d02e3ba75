// The ranks of an all_reduce program, each a process.
#pragma once

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/process.h"

namespace actorflow::test {

using Ranks = std::vector<std::unique_ptr<Process>>;

// Kills one of them when all add, and expects that all others end with an error that names it.
inline void expect_that_others_name_a_killed_rank(const Ranks& ranks, std::size_t killed) {
  for (const auto& rank : ranks) BOOST_TEST(rank->prints("adds"), rank->output());
  ranks[killed]->send_signal(SIGKILL);
  const std::string name = std::to_string(killed);
  for (std::size_t other = 0; other < ranks.size(); ++other) {
    if (other == killed) continue;
    BOOST_TEST(ranks[other]->wait() == 138);
    BOOST_TEST(ranks[other]->output().find("rank " + name + " (/job:rank/task:" + name + ") is lost") !=
                   std::string::npos,
               ranks[other]->output());
  }
}

}  // namespace actorflow::test
