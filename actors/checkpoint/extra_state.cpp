#include "actors/checkpoint/extra_state.h"

#include <utility>
#include <vector>

#include "actors/checkpoint/files/file_writer.h"
#include "actors/checkpoint/files/reader.h"

namespace actorflow {

ExtraState read_extra_state(Storage& storage, const std::string& folder, const Manifest& manifest) {
  std::vector<TensorRange> ranges;
  for (const auto& entry : manifest.tensors)
    if (is_extra(entry.name)) ranges.push_back({entry.name});
  if (ranges.empty()) return {};
  CheckpointReader reader(storage, folder, manifest, ranges);
  reader.read_all();
  auto tensors = reader.take();
  ExtraState extra;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    extra[ranges[i].name.substr(1)] = std::move(tensors[i]);
  return extra;
}

Manifest write_extra_state(Storage& storage, const std::string& folder, const std::string& name,
                           std::int64_t global_step, const ExtraState& extra) {
  std::vector<SavedTensor> tensors;
  for (const auto& [own_name, tensor] : extra)
    tensors.push_back({"@" + own_name, "@" + own_name, "", 0, -1, tensor});
  CheckpointFileWriter writer(storage, folder, name, global_step, std::move(tensors));
  while (writer.write_some()) {
  }
  return writer.commit();
}

}  // namespace actorflow
