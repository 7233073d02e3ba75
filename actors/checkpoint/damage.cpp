#include "actors/checkpoint/damage.h"

#include <functional>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/checkpoint/files/reader.h"
#include "actors/checkpoint/folder.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// A manifest of one tensor, or slice of one, as if it were all there is.
Manifest alone(const Manifest& manifest, const Manifest::Entry& entry) {
  Manifest part;
  part.global_step = manifest.global_step;
  part.block_bytes = manifest.block_bytes;
  part.files = manifest.files;
  part.tensors = {entry};
  part.tensors[0].first_row = 0;
  part.tensors[0].full_rows = -1;
  return part;
}

// Reads all bytes, one tensor after the other. Calls `mistake` for each tensor that cannot be read, or
// for the manifest, and goes on.
void read_through(Storage& storage, const std::string& path,
                  const std::function<void(const Error&)>& mistake) {
  try {
    const Manifest manifest = read_manifest(storage, path);
    for (const auto& entry : manifest.tensors) try {
        CheckpointReader reader(storage, folder_of(path), alone(manifest, entry), {{entry.name}});
        reader.read_all();
      } catch (const Error& error) {
        mistake(error);
      }
  } catch (const Error& error) {
    mistake(error);
  }
}

}  // namespace

std::vector<std::string> verify_checkpoint(Storage& storage, const std::string& path) {
  std::vector<std::string> mistakes;
  read_through(storage, path, [&mistakes](const Error& error) {
    if (mistakes.empty() || mistakes.back() != error.what()) mistakes.emplace_back(error.what());
  });
  return mistakes;
}

bool is_damaged(Storage& storage, const std::string& manifest_path) {
  bool damaged = false;
  read_through(storage, manifest_path, [&damaged](const Error& error) {
    damaged = damaged || error.code() == Code::data_loss || error.code() == Code::not_found;
  });
  return damaged;
}

}  // namespace actorflow
