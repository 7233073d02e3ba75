#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/formats/byte_source.h"

namespace actorflow {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;
// Deflate makes at most 1032 bytes of one (zlib's documentation, "Maximum Compression Factor").
constexpr std::uint64_t most_bytes_per_compressed_byte = 1032;
constexpr int gzip_only = 15 + 16;  // the largest window, and gzip's header and trailer

// Holds the block that told whether the file is compressed, and passes the rest through if it is not.
class Decompressed final : public ByteSource {
 public:
  explicit Decompressed(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
    refill();
    compressed_ = block_.size() - at_ >= 2 && block_[0] == std::byte{0x1f} && block_[1] == std::byte{0x8b};
    if (compressed_ && inflateInit2(&stream_, gzip_only) != Z_OK)
      throw Error(Code::resource_exhausted, name() + ": no memory to decompress it");
  }
  Decompressed(const Decompressed&) = delete;
  Decompressed& operator=(const Decompressed&) = delete;
  ~Decompressed() override {
    if (compressed_) inflateEnd(&stream_);
  }

  std::size_t read(std::span<std::byte> to) override {
    return compressed_ ? inflate_into(to) : pass_through(to);
  }

  std::uint64_t skip(std::uint64_t bytes) override {
    if (compressed_) return ByteSource::skip(bytes);
    const auto here = std::min<std::uint64_t>(bytes, block_.size() - at_);
    at_ += static_cast<std::size_t>(here);
    return here + (here < bytes ? source_->skip(bytes - here) : 0);
  }

  std::uint64_t most_bytes_left() override {
    const std::uint64_t left = block_.size() - at_ + source_->most_bytes_left();
    return compressed_ ? left * most_bytes_per_compressed_byte : left;
  }

  const std::string& name() const override { return source_->name(); }

 private:
  // False at the end of the file.
  bool refill() {
    offset_ += block_.size();
    block_.resize(block_bytes);
    block_.resize(source_->read(block_));
    at_ = 0;
    return !block_.empty();
  }

  std::size_t pass_through(std::span<std::byte> to) {
    const std::size_t here = std::min(to.size(), block_.size() - at_);
    std::memcpy(to.data(), block_.data() + at_, here);
    at_ += here;
    return here + (here < to.size() ? source_->read(to.subspan(here)) : 0);
  }

  std::size_t inflate_into(std::span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size() && !ended_) {
      if (at_ == block_.size() && !refill())
        throw damaged("expected the end of the compressed data, but the file ends before; it is truncated");
      done += inflate_some(to.subspan(done));
    }
    return done;
  }

  std::size_t inflate_some(std::span<std::byte> to) {
    const auto room = static_cast<uInt>(std::min<std::size_t>(to.size(), std::numeric_limits<uInt>::max()));
    stream_.next_in = reinterpret_cast<Bytef*>(block_.data() + at_);
    stream_.avail_in = static_cast<uInt>(block_.size() - at_);
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = room;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    at_ = block_.size() - stream_.avail_in;
    if (code == Z_STREAM_END)
      next_member();
    else if (code != Z_OK && code != Z_BUF_ERROR)
      throw damaged(std::string("the compressed data are damaged (") +
                    (stream_.msg ? stream_.msg : "zlib error " + std::to_string(code)) + ")");
    return room - stream_.avail_out;
  }

  // A gzip file may be several, one after the other.
  void next_member() {
    stream_.avail_in = 0;
    if (at_ == block_.size() && !refill())
      ended_ = true;
    else
      inflateReset(&stream_);
  }

  Error damaged(const std::string& what) const {
    return Error(Code::data_loss,
                 name() + ": at byte " + std::to_string(offset_ + at_) + ": " + what + "; replace the file");
  }

  std::unique_ptr<ByteSource> source_;
  std::vector<std::byte> block_;
  std::size_t at_ = 0;          // in the block
  std::uint64_t offset_ = 0;    // of the block in the file
  bool compressed_ = false;
  bool ended_ = false;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source) {
  return std::make_unique<Decompressed>(std::move(source));
}

}  // namespace actorflow
