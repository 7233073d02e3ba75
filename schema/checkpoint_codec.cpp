#include "schema/checkpoint_codec.h"

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstring>

#include "dataflow/error.h"
#include "schema/checkpoint.capnp.h"
#include "schema/checksum.h"
#include "schema/codec/tensor_codec.h"
#include "schema/codec/text.h"

namespace actorflow {
namespace {

// Its checksum has vouched for the bytes: no limit on reading, beyond the bytes themselves.
constexpr capnp::ReaderOptions trusted{~std::uint64_t{0} >> 4, 64};

Error damaged(const std::string& why) {
  return Error(Code::data_loss, "the manifest of a checkpoint is damaged: " + why +
                                    "; delete it to use the checkpoint before it");
}

void write_entry(const Manifest::Entry& entry, wire::Manifest::Entry::Builder to) {
  const auto dims = entry.shape.dims();
  to.setName(to_text(entry.name));
  to.setDtype(static_cast<wire::DType>(entry.dtype));
  to.setDims({dims.data(), dims.size()});
  to.setFile(entry.file);
  to.setOffset(entry.offset);
  to.setSizeBytes(entry.size_bytes);
  to.setChecksum(entry.checksum);
}

Manifest::Entry read_entry(wire::Manifest::Entry::Reader from, const Manifest& manifest) {
  Manifest::Entry entry{
      to_string(from.getName()), read_dtype(from.getDtype()), read_dims(from.getDims()), from.getFile(),
      from.getOffset(),          from.getSizeBytes(),         from.getChecksum()};
  if (entry.file >= manifest.files.size())
    throw damaged("tensor '" + entry.name + "' is in file " + std::to_string(entry.file) + " of " +
                  std::to_string(manifest.files.size()));
  const std::uint64_t file_bytes = manifest.files[entry.file].size_bytes;
  if (entry.size_bytes > file_bytes || entry.offset > file_bytes - entry.size_bytes)
    throw damaged("tensor '" + entry.name + "' lies behind the end of its file");
  return entry;
}

// The bytes in front of the checksum, copied to where Cap'n Proto may read words.
kj::Array<capnp::word> verified_words(std::span<const std::byte> bytes) {
  std::uint64_t expected = 0;
  if (bytes.size() < sizeof expected || bytes.size() % sizeof(capnp::word) != 0)
    throw damaged("it has " + std::to_string(bytes.size()) + " bytes");
  const auto body = bytes.first(bytes.size() - sizeof expected);
  std::memcpy(&expected, bytes.data() + body.size(), sizeof expected);
  if (checksum(body) != expected) throw damaged("its checksum is wrong");
  auto words = kj::heapArray<capnp::word>(body.size() / sizeof(capnp::word));
  if (!body.empty()) std::memcpy(words.begin(), body.data(), body.size());
  return words;
}

}  // namespace

std::vector<std::byte> encode_manifest(const Manifest& manifest) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<wire::Manifest>();
  root.setVersion(wire::MANIFEST_VERSION);
  root.setGlobalStep(manifest.global_step);
  auto files = root.initFiles(static_cast<unsigned>(manifest.files.size()));
  for (unsigned i = 0; i < files.size(); ++i) {
    files[i].setName(to_text(manifest.files[i].name));
    files[i].setSizeBytes(manifest.files[i].size_bytes);
    files[i].setChecksum(manifest.files[i].checksum);
  }
  auto tensors = root.initTensors(static_cast<unsigned>(manifest.tensors.size()));
  for (unsigned i = 0; i < tensors.size(); ++i) write_entry(manifest.tensors[i], tensors[i]);

  const auto words = capnp::messageToFlatArray(message);
  const std::span<const std::byte> body = std::as_bytes(std::span(words.begin(), words.size()));
  std::vector<std::byte> bytes(body.begin(), body.end());
  const std::uint64_t sum = checksum(body);
  const auto* tail = reinterpret_cast<const std::byte*>(&sum);
  bytes.insert(bytes.end(), tail, tail + sizeof sum);
  return bytes;
}

Manifest decode_manifest(std::span<const std::byte> bytes) {
  const auto words = verified_words(bytes);
  try {
    capnp::FlatArrayMessageReader message(words, trusted);
    const auto root = message.getRoot<wire::Manifest>();
    if (root.getVersion() != wire::MANIFEST_VERSION)
      throw Error(Code::failed_precondition,
                  "the checkpoint has version " + std::to_string(root.getVersion()) +
                      ", but this program reads version " + std::to_string(wire::MANIFEST_VERSION));
    Manifest manifest;
    manifest.global_step = root.getGlobalStep();
    for (const auto file : root.getFiles())
      manifest.files.push_back({to_string(file.getName()), file.getSizeBytes(), file.getChecksum()});
    for (const auto entry : root.getTensors()) manifest.tensors.push_back(read_entry(entry, manifest));
    return manifest;
  } catch (const kj::Exception& exception) {
    throw damaged(exception.getDescription().cStr());
  }
}

}  // namespace actorflow
