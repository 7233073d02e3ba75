#include "actors/checkpoint/files/safetensors.h"
#include "schema/checksum.h"
#include "schema/codec/checkpoint_codec.h"
#include "test/fuzz/support/seeds.h"

namespace actorflow::fuzz {
namespace {

Tensor rows(std::int64_t first, std::int64_t count) {
  Tensor tensor = Tensor::allocate(DType::float32, {count, 3});
  auto value = static_cast<float>(first);
  for (auto& element : tensor.mutable_values<float>()) element = value++;
  return tensor;
}

Manifest manifest_of(const SafetensorsFile& file, std::uint64_t block_bytes) {
  Manifest manifest{.global_step = 7, .saved_at_s = 8, .block_bytes = block_bytes, .files = {}, .tensors = {}};
  manifest.files.push_back(
      {"step-7.1-of-1.safetensors", file.size_bytes(), file.header().size(), checksum(file.header())});
  for (const auto& entry : file.entries()) {
    Manifest::Entry& added = manifest.tensors.emplace_back();
    added.name = entry.name;
    added.dtype = entry.tensor.dtype();
    added.shape = entry.tensor.shape();
    added.offset = entry.offset;
    added.size_bytes = entry.bytes.size();
    for (std::size_t begin = 0; begin < entry.bytes.size(); begin += block_bytes) {
      const auto left = entry.bytes.subspan(begin);
      added.checksums.push_back(checksum(left.first(std::min<std::size_t>(block_bytes, left.size()))));
    }
  }
  return manifest;
}

// As the target takes it: the size of the manifest without its checksum, that, and the file.
Bytes seed(const Manifest& manifest, const SafetensorsFile& file) {
  Bytes bytes = encode_manifest(manifest);
  bytes.resize(bytes.size() - sizeof(std::uint64_t));
  const auto size = static_cast<std::uint16_t>(bytes.size());
  Bytes all = Bytes{static_cast<std::byte>(size & 255), static_cast<std::byte>(size >> 8)} + bytes;
  all.insert(all.end(), file.header().begin(), file.header().end());
  for (const auto& entry : file.entries()) all.insert(all.end(), entry.bytes.begin(), entry.bytes.end());
  return all;
}

}  // namespace

void add_checkpoint_seeds(const AddSeed& add) {
  const SafetensorsFile types({{"flag", Tensor::scalar(true)},
                               {"none", Tensor::allocate(DType::float64, {0, 2})},
                               {"step", Tensor::scalar(std::int64_t{7})},
                               {"texts", Tensor::of<std::string>({2}, {"", "text"})},
                               {"weights", rows(0, 4)}},
                              {{"format", "actorflow"}});
  add("checkpoint", seed(manifest_of(types, 16), types));
  add("checkpoint", encode_manifest(manifest_of(types, std::uint64_t{1} << 20)));

  // One variable in two slices, with a slot.
  const SafetensorsFile sliced({{"a", rows(0, 2)}, {"b", rows(2, 3)}, {"slot", rows(0, 2)}}, {});
  Manifest manifest = manifest_of(sliced, 24);
  for (auto& entry : manifest.tensors) {
    entry.full_rows = 5;
    if (entry.name == "slot") entry.variable = "w";
    else entry.first_row = entry.name == "b" ? 2 : 0, entry.name = "w";
  }
  add("checkpoint", seed(manifest, sliced));
}

}  // namespace actorflow::fuzz
