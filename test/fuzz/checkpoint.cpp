// Checkpoints: the manifest as it comes, and one whose checksums fit, so that what is behind them is
// reached, with a file of tensors. The first two bytes say how long the manifest is.
#include <algorithm>
#include <memory>

#include "actors/checkpoint/files/reader.h"
#include "schema/checksum.h"
#include "schema/codec/checkpoint_codec.h"
#include "test/fuzz/support/target.h"

using namespace actorflow;

namespace {

// One file, under every name.
class OneFile final : public Storage {
 public:
  explicit OneFile(fuzz::Input bytes) : bytes_(bytes) {}

  std::unique_ptr<OpenFile> open(const std::string&) override { return std::make_unique<Open>(bytes_); }
  bool exists(const std::string&) override { return true; }
  std::vector<std::string> list(const std::string&) override { return {}; }
  std::unique_ptr<NewFile> create(const std::string&) override { std::abort(); }
  void append(const std::string&, std::span<const std::byte>) override { std::abort(); }
  void remove(const std::string&) override { std::abort(); }
  void sync(const std::string&) override { std::abort(); }
  double wall_time_s() override { std::abort(); }

 private:
  struct Open final : OpenFile {
    explicit Open(fuzz::Input content) : bytes(content) {}
    std::uint64_t size_bytes() override { return bytes.size(); }
    void read(std::uint64_t offset, std::span<std::byte> into) override {
      if (offset > bytes.size() || into.size() > bytes.size() - offset)
        throw Error(Code::data_loss, "the file ends early");
      std::ranges::copy(bytes.subspan(offset, into.size()), into.begin());
    }
    fuzz::Input bytes;
  };
  fuzz::Input bytes_;
};

std::vector<std::byte> with_checksum(fuzz::Input manifest) {
  std::vector<std::byte> bytes(manifest.begin(), manifest.end());
  const std::uint64_t sum = checksum(manifest);
  const auto* tail = reinterpret_cast<const std::byte*>(&sum);
  bytes.insert(bytes.end(), tail, tail + sizeof sum);
  return bytes;
}

// Lets the manifest say of the file what is true. What lies outside of it is left for the reader to find.
void make_true(Manifest& manifest, fuzz::Input bytes) {
  for (auto& file : manifest.files) {
    file.size_bytes = bytes.size();
    if (file.header_bytes <= bytes.size()) file.header_checksum = checksum(bytes.first(file.header_bytes));
  }
  for (auto& entry : manifest.tensors)
    for (std::size_t block = 0; block < entry.checksums.size(); ++block) {
      const std::uint64_t begin = entry.offset + block * manifest.block_bytes;
      const std::uint64_t left = entry.size_bytes - block * manifest.block_bytes;
      const std::uint64_t size = std::min(manifest.block_bytes, left);
      if (begin <= bytes.size() && size <= bytes.size() - begin)
        entry.checksums[block] = checksum(bytes.subspan(begin, size));
    }
}

void restore(const Manifest& manifest, const std::vector<TensorRange>& ranges, fuzz::Input file) {
  OneFile storage(file);
  CheckpointReader reader(storage, "folder", manifest, ranges);
  reader.read_all();
  fuzz::require(reader.take().size() == ranges.size(), "there is a tensor for each range");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = fuzz::input(data, size);
  fuzz::accepts([&] { decode_manifest(input); });
  const std::size_t wanted = fuzz::take<std::uint16_t>(input);
  const std::size_t manifest_bytes = std::min(wanted, input.size());
  const auto file = input.subspan(manifest_bytes);
  Manifest manifest;
  if (!fuzz::accepts([&] { manifest = decode_manifest(with_checksum(input.first(manifest_bytes))); }))
    return 0;
  fuzz::require(encode_manifest(decode_manifest(encode_manifest(manifest))) == encode_manifest(manifest),
                "a manifest survives being written");
  make_true(manifest, file);
  std::vector<TensorRange> all;
  for (const auto& entry : manifest.tensors) all.push_back({entry.name});
  fuzz::accepts([&] { restore(manifest, all, file); });
  for (const auto& entry : manifest.tensors)
    fuzz::accepts([&] { restore(manifest, {{entry.name, entry.first_row, entry.rows() / 2 + 1}}, file); });
  return 0;
}
