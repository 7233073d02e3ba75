#include "actors/jobs/tensors/job_dataset.h"

namespace actorflow {

std::shared_ptr<const KeptRecords> run_part_here(const JobTools& tools, std::size_t index,
                                                 const std::function<void(Part&)>& body) {
  StageProgress progress;
  Part part(tools, index, {}, progress);
  part.run(body);
  auto records = std::make_shared<KeptRecords>();
  records->parts.push_back(part.take_outcome().chunks);
  return records;
}

}  // namespace actorflow
