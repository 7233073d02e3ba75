#include "schema/codec/checkpoint_codec.h"

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstring>

#include "dataflow/values/error.h"
#include "schema/checkpoint.capnp.h"
#include "schema/checksum.h"
#include "schema/codec/tensor_codec.h"
#include "schema/codec/text.h"

namespace actorflow {
namespace {

// Limits that grow with the manifest, each of whose words is read a few times at most. They also count
// the elements of lists that take no bytes, which a few bytes could otherwise make endless.
capnp::ReaderOptions limits_for(kj::ArrayPtr<const capnp::word> words) {
  return {8 * words.size() + 1024, 64};
}

Error damaged(const std::string& why) {
  return Error(Code::data_loss, "the manifest of a checkpoint is damaged: " + why +
                                    "; delete it to use the checkpoint before it");
}

void write_entry(const Manifest::Entry& entry, wire::Manifest::Entry::Builder to) {
  const auto dims = entry.shape.dims();
  to.setName(to_text(entry.name));
  to.setVariable(to_text(entry.variable));
  to.setDtype(static_cast<wire::DType>(entry.dtype));
  to.setDims({dims.data(), dims.size()});
  to.setFirstRow(entry.first_row);
  to.setFullRows(entry.full_rows);
  to.setFile(entry.file);
  to.setOffset(entry.offset);
  to.setSizeBytes(entry.size_bytes);
  to.setChecksums({entry.checksums.data(), entry.checksums.size()});
}

// False if so many bytes cannot hold such elements. Strings need no certain number.
bool has_right_size(const Manifest::Entry& entry) {
  std::uint64_t bytes = entry.dtype == DType::string ? 1 : size_of(entry.dtype);
  for (const auto dim : entry.shape.dims())
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes)) return false;
  return entry.dtype == DType::string || bytes == entry.size_bytes;
}

// False if the rows lie outside of the whole tensor, or are of one that has none.
bool has_right_rows(const Manifest::Entry& entry) {
  if (entry.full_rows < 0) return entry.first_row == 0;
  return entry.first_row >= 0 && entry.first_row <= entry.full_rows - entry.rows();
}

// Checks what a reader relies on: the size, the place in the file, the number of checksums, the rows of
// a slice.
void check_entry(const Manifest::Entry& entry, const Manifest& manifest) {
  const auto wrong = [&](const std::string& what) {
    return damaged("tensor '" + entry.name + "' " + what);
  };
  if (entry.file >= manifest.files.size())
    throw wrong("is in file " + std::to_string(entry.file) + " of " +
                std::to_string(manifest.files.size()));
  if (entry.dtype == DType::invalid || !entry.shape.fully_known() || !has_right_size(entry))
    throw wrong("of type " + std::string(to_string(entry.dtype)) + entry.shape.to_string() +
                " cannot have " + std::to_string(entry.size_bytes) + " bytes");
  const auto& file = manifest.files[entry.file];
  if (entry.offset < file.header_bytes || entry.offset > file.size_bytes ||
      entry.size_bytes > file.size_bytes - entry.offset)
    throw wrong("lies outside of its file");
  const std::uint64_t blocks =
      entry.size_bytes / manifest.block_bytes + (entry.size_bytes % manifest.block_bytes != 0);
  if (entry.checksums.size() != blocks)
    throw wrong("has " + std::to_string(entry.checksums.size()) + " checksums for " +
                std::to_string(blocks) + " blocks");
  if (!has_right_rows(entry)) throw wrong("is a slice that lies outside of the whole");
}

Manifest::Entry read_entry(wire::Manifest::Entry::Reader from, const Manifest& manifest) {
  Manifest::Entry entry;
  entry.name = to_string(from.getName());
  entry.variable = to_string(from.getVariable());
  entry.dtype = read_dtype(from.getDtype());
  entry.shape = read_dims(from.getDims());
  entry.first_row = from.getFirstRow();
  entry.full_rows = from.getFullRows();
  entry.file = from.getFile();
  entry.offset = from.getOffset();
  entry.size_bytes = from.getSizeBytes();
  for (const auto sum : from.getChecksums()) entry.checksums.push_back(sum);
  check_entry(entry, manifest);
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
  root.setSavedAt(manifest.saved_at_s);
  root.setBlockBytes(manifest.block_bytes);
  root.setOneStep(manifest.one_step);
  auto files = root.initFiles(static_cast<unsigned>(manifest.files.size()));
  for (unsigned i = 0; i < files.size(); ++i) {
    files[i].setName(to_text(manifest.files[i].name));
    files[i].setSizeBytes(manifest.files[i].size_bytes);
    files[i].setHeaderBytes(manifest.files[i].header_bytes);
    files[i].setHeaderChecksum(manifest.files[i].header_checksum);
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
    capnp::FlatArrayMessageReader message(words, limits_for(words));
    const auto root = message.getRoot<wire::Manifest>();
    if (root.getVersion() != wire::MANIFEST_VERSION)
      throw Error(Code::failed_precondition,
                  "the checkpoint has version " + std::to_string(root.getVersion()) +
                      ", but this program reads version " + std::to_string(wire::MANIFEST_VERSION) +
                      "; restore it with the release that wrote it, or train into another folder");
    Manifest manifest;
    manifest.global_step = root.getGlobalStep();
    manifest.saved_at_s = root.getSavedAt();
    manifest.block_bytes = root.getBlockBytes();
    manifest.one_step = root.getOneStep();
    if (manifest.block_bytes == 0) throw damaged("its blocks have no bytes");
    for (const auto file : root.getFiles())
      manifest.files.push_back({to_string(file.getName()), file.getSizeBytes(), file.getHeaderBytes(),
                                file.getHeaderChecksum()});
    for (const auto entry : root.getTensors()) manifest.tensors.push_back(read_entry(entry, manifest));
    return manifest;
  } catch (const kj::Exception& exception) {
    throw damaged(exception.getDescription().cStr());
  }
}

}  // namespace actorflow
