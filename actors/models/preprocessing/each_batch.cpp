#include "actors/models/preprocessing/each_batch.h"

#include <fmt/format.h>

#include "actors/input/rows.h"
#include "dataflow/values/error.h"

namespace actorflow {

void for_each_batch(const Dataset& elements, std::size_t component,
                    const std::function<void(const Tensor& batch)>& function) {
  constexpr std::int64_t at_a_time = 4096;
  const StageRef stage = elements.open({});
  stage->restart(0);
  bool any = false;
  for (std::int64_t got = at_a_time; got == at_a_time;) {
    RowStacker rows(0);
    got = stage->append(at_a_time, rows);
    if (got == 0) break;
    const Tuple batch = rows.take();
    if (component >= batch.size())
      throw invalid_argument(fmt::format("adapt: expected a component below {}, got {}; examples are {}",
                                         batch.size(), component, describe(batch)));
    any = true;
    function(batch[component]);
  }
  if (!any) throw invalid_argument("adapt: the data have no examples");
}

}  // namespace actorflow
