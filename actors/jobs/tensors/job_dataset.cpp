#include "actors/jobs/tensors/job_dataset.h"

namespace actorflow {

std::shared_ptr<const KeptRecords> run_part_here(const JobTools& tools, std::size_t index,
                                                 const std::function<void(Part&)>& body) {
  StageProgress progress;
  Part part(tools, index, {}, progress, std::make_shared<const std::atomic<bool>>(false));
  part.run(body);
  auto records = std::make_shared<KeptRecords>(1, 1);
  records->keep(0, part.take_product().chunks);
  return records;
}

}  // namespace actorflow
