// The plan of a map/reduce job: what its stages do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace actorflow {

// An operator of a job, and the place where the program calls it.
struct PlanOperator {
  std::string kind;     // "map", "reduce_by_key"
  std::string records;  // what it gives: "pair<string,int64>"
  std::string file;     // of the program
  unsigned line = 0;

  // "map at word_count.cpp:12".
  std::string to_string() const;
};

// Operators that run as one loop over the records of a part.
struct PlanStage {
  std::uint32_t id = 0;
  std::vector<PlanOperator> operators;
  std::vector<std::uint32_t> reads;  // stages whose records it takes; none: it reads files or values
  std::string gives;                 // "a shuffle by key", "files in 'counts'"
  // 0: known when the stages that it reads are done.
  std::size_t parts = 0;
  std::uint64_t input_bytes = 0;
  std::size_t partitions = 0;  // into which its records are divided
};

// A few lines per stage.
std::string to_text(std::span<const PlanStage> stages);
// The same as a graph in Graphviz's language.
std::string to_dot(std::span<const PlanStage> stages);

}  // namespace actorflow
