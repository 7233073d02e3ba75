// Restoring by a saver.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/checkpoint/extra_state.h"
#include "actors/checkpoint/files/reader.h"
#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/newest_whole.h"
#include "actors/checkpoint/saver.h"
#include "actors/probes/point.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Point restored_uneven("a checkpoint of different steps is restored");

}  // namespace

std::optional<std::int64_t> Saver::restore(Session& session, Storage& storage, const std::string& folder,
                                           bool strict, ExtraState* extra) const {
  return restore_newest_whole(storage, folder, strict, [&](const std::string& manifest_path) {
    return restore_from(session, storage, manifest_path, extra);
  });
}

std::int64_t Saver::restore_from(Session& session, Storage& storage, const std::string& manifest_path,
                                 ExtraState* extra) const {
  const Manifest manifest = read_manifest(storage, manifest_path);
  const std::string folder = folder_of(manifest_path);
  if (const auto found = differences(manifest); !found.empty())
    throw Error(
        Code::failed_precondition,
        fmt::format("{} does not have the variables of the graph:{}\nIt belongs to another model: "
                    "choose the model's own options, or another checkpoint folder; a Saver of the "
                    "variables that fit restores just these",
                    manifest_path, found));
  try {
    for (const auto& file : manifest.files)
      if (!storage.exists(folder + "/" + file.name))
        throw Error(Code::data_loss,
                    fmt::format("{}/{}: this file of the checkpoint is missing", folder, file.name));
    if (extra) *extra = read_extra_state(storage, folder, manifest);
    run_restore(session, folder, manifest);
    if (!manifest.one_step) {
      restored_uneven.hit();
      spdlog::info("the variables of {} may be of different steps", manifest_path);
    }
  } catch (const Error& error) {
    if (error.code() != Code::data_loss) throw;
    throw Error(Code::data_loss, fmt::format("{}; delete {} to use the checkpoint before it",
                                             error.what(), manifest_path));
  }
  return saves_global_step_ ? session.run(global_step_).scalar<std::int64_t>() : manifest.global_step;
}

// A line for each; nothing if the checkpoint has all that is wanted.
std::string Saver::differences(const Manifest& manifest) const {
  const auto pieces = pieces_by_name(manifest);
  std::string lines, extra;
  for (const auto& [name, type] : wanted_) {
    const auto found = pieces.find(name);
    if (found == pieces.end()) {
      lines += fmt::format("\n  '{}' ({}) is missing", name, type.to_string());
      continue;
    }
    const TensorType saved{found->second.front()->dtype, whole_shape(found->second)};
    if (!(saved == type))
      lines += fmt::format("\n  '{}' is {} in the checkpoint, but {} in the graph", name,
                           saved.to_string(), type.to_string());
  }
  for (const auto& [name, entries] : pieces)
    if (entries.front()->variable.empty() && !is_extra(name) && !wanted_.contains(name))
      extra += fmt::format("\n  '{}' is in the checkpoint only", name);
  return lines.empty() ? lines : lines + extra;
}

void Saver::run_restore(Session& session, const std::string& folder, const Manifest& manifest) const {
  const auto bytes = encode_manifest(manifest);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<Output> targets;
  for (const auto& part : parts_)
    if (has_variables(part)) targets.push_back(part.restore);
  session.run({}, {{folder_, Tensor::scalar(folder)}, {manifest_, Tensor::scalar(text)}}, targets);
}

}  // namespace actorflow
