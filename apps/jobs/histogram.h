// How many words of a text have each length, counted by a variable on a parameter shard, to which a job
// sends batches of lengths: rows "length,count". Longer words count as of 31 characters.
#pragma once

#include "apps/jobs/local_server.h"

namespace actorflow {

inline constexpr std::int64_t longest_word = 31;

inline void histogram_of_lengths(Job& job) {
  Server server = local_server(job, "histogram");
  const std::string input = job.param("input"), output = job.param("output");
  const auto lengths = job.read_text(input).flat_map(words).map(
      [](auto word) { return std::min(static_cast<std::int64_t>(word.size()), longest_word); });
  server.serve_input("lengths", lengths.batch(4096).dataset().prefetch(2));

  Graph g;
  const Variable counts =
      g.variable("counts", g.constant(Tensor::zeros(DType::int64, {longest_word + 1})));
  const Output batch = iterator_get_next(g, "lengths", {{DType::int64, {Shape::unknown}}})[0];
  const Output add =
      g.assign_add(counts, unsorted_segment_sum(ones_like(batch), batch, longest_word + 1));
  Session session(server.target(), g);
  session.initialize_variables();
  run_to_end_of_input(session, add);

  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (const std::int64_t count : session.run(counts).values<std::int64_t>())
    rows.emplace_back(std::ssize(rows), count);
  job.from(rows).write_csv(output);
}

}  // namespace actorflow
