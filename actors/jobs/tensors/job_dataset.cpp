#include "actors/jobs/tensors/job_dataset.h"

#include <fmt/format.h>

#include "kernels/core/computing.h"
#include "kernels/devices/team.h"

namespace actorflow {
namespace {

std::shared_ptr<const KeptRecords> run_part(const JobTools& tools, std::size_t index,
                                            const std::function<void(Part&)>& body) {
  StageProgress progress;
  Part part(tools, index, {}, progress, std::make_shared<const std::atomic<bool>>(false));
  const WorkName work{fmt::format("part {} of a dataset", index), ""};
  const Computing computing(work);
  part.run(body);
  auto records = std::make_shared<KeptRecords>(StageNumber{0}, 1, 1);
  records->keep(0, part.take_product().chunks);
  return records;
}

}  // namespace

std::deque<std::shared_ptr<const KeptRecords>> run_parts_here(const JobTools& tools, std::size_t first,
                                                              std::size_t count, Team* team,
                                                              const std::function<void(Part&)>& body) {
  std::deque<std::shared_ptr<const KeptRecords>> parts(count);
  const auto run = [&](int i) {
    const auto place = static_cast<std::size_t>(i);
    parts[place] = run_part(tools, first + place, body);
  };
  if (team && count > 1)
    team->run(static_cast<int>(count), run);
  else
    for (std::size_t i = 0; i < count; ++i) run(static_cast<int>(i));
  return parts;
}

}  // namespace actorflow
