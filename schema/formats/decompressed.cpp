#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/formats/byte_source.h"
#include "schema/formats/codecs.h"

namespace actorflow {
namespace {

constexpr std::size_t plain_bytes = std::size_t{1} << 18;
constexpr std::size_t magic_bytes = 4;

Compression compression_by_magic(std::span<const std::byte> beginning) {
  using namespace std::string_view_literals;
  const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  if (text.starts_with("\x1f\x8b"sv)) return Compression::gzip;
  if (text.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::zstd;
  if (text.starts_with("\x04\x22\x4d\x18"sv)) return Compression::lz4;
  return Compression::none;
}

std::unique_ptr<Decoder> make_decoder(Compression compression) {
  if (compression == Compression::gzip) return make_gzip_decoder();
  if (compression == Compression::zstd) return make_zstd_decoder();
  return make_lz4_decoder();
}

// A source whose first bytes have been read.
class Begun final : public ByteSource {
 public:
  Begun(SourceRef source, std::vector<std::byte> beginning)
      : source_(std::move(source)), beginning_(std::move(beginning)) {}

  std::size_t read(std::span<std::byte> to) override {
    const std::size_t here = std::min(to.size(), beginning_.size() - at_);
    if (here > 0) std::memcpy(to.data(), beginning_.data() + at_, here);
    at_ += here;
    return here + (here < to.size() ? source_->read(to.subspan(here)) : 0);
  }
  std::uint64_t skip(std::uint64_t bytes) override {
    const auto here = std::min<std::uint64_t>(bytes, beginning_.size() - at_);
    at_ += static_cast<std::size_t>(here);
    return here + (here < bytes ? source_->skip(bytes - here) : 0);
  }
  std::uint64_t most_bytes_left() override {
    return beginning_.size() - at_ + source_->most_bytes_left();
  }
  const std::string& name() const override { return source_->name(); }

 private:
  SourceRef source_;
  std::vector<std::byte> beginning_;
  std::size_t at_ = 0;
};

class Decompressed final : public ByteSource {
 public:
  Decompressed(SourceRef source, Compression compression)
      : source_(std::move(source)), decoder_(make_decoder(compression)) {
    block_.reserve(plain_bytes);
  }

  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size() && !ended_) {
      if (at_ == block_.size() && between_frames_ && !refill()) {
        ended_ = true;
        break;
      }
      if (!skip_padding()) done += decode_some(to.subspan(done));
    }
    return done;
  }

  std::uint64_t most_bytes_left() override {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t compressed = offset_ + block_.size() + source_->most_bytes_left();
    const std::uint64_t factor = decoder_->most_bytes_of_one();
    return (compressed > most / factor ? most : compressed * factor) - made_;
  }

  const std::string& name() const override { return source_->name(); }

 private:
  // False at the end of the file.
  bool refill() {
    offset_ += block_.size();
    block_.resize(plain_bytes);
    block_.resize(source_->read(block_));
    at_ = 0;
    return !block_.empty();
  }

  // Zeros behind a frame, which tapes and some file systems add; no frame begins with them. True if
  // there were some.
  bool skip_padding() {
    if (!between_frames_) return false;
    const auto end = std::find_if(block_.begin() + static_cast<std::ptrdiff_t>(at_), block_.end(),
                                  [](std::byte byte) { return byte != std::byte{0}; });
    const auto skipped = static_cast<std::size_t>(end - block_.begin()) - at_;
    at_ += skipped;
    return skipped > 0;
  }

  // Of a stream that needs more input it reads it, and makes 0 bytes.
  std::size_t decode_some(std::span<std::byte> to) {
    const auto step = decoder_->decode(std::span(block_).subspan(at_), to);
    at_ += step.taken;
    made_ += step.made;
    if (between_frames_) made_before_frame_ = made_ - step.made;
    if (step.error != nullptr)
      throw damaged(std::string("the compressed data are damaged (") + step.error + ")");
    if (step.taken > 0 || step.made > 0 || step.ended) {
      between_frames_ = step.ended;
    } else if (at_ < block_.size()) {
      throw damaged("the compressed data are damaged (nothing comes of them)");
    } else if (!refill()) {
      throw damaged(
          "expected the end of the compressed data, but the file ends before; it is truncated");
    }
    return step.made;
  }

  Error damaged(std::string what) const {
    if (made_before_frame_ > 0 && made_ == made_before_frame_)
      what = "what stands behind the end of the compressed data is none of them, or is truncated";
    return Error(Code::data_loss, name() + ": at byte " + std::to_string(offset_ + at_) + ": " + what +
                                      "; replace the file");
  }

  SourceRef source_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<std::byte> block_;
  std::size_t at_ = 0;        // in the block
  std::uint64_t offset_ = 0;  // of the block in the file
  std::uint64_t made_ = 0;    // bytes of what it contains
  std::uint64_t made_before_frame_ = 0;  // by the frames before the present one
  bool between_frames_ = false;
  bool ended_ = false;
};

}  // namespace

SourceRef decompressed(SourceRef source, Compression compression) {
  if (compression == Compression::none) return source;
  return std::make_unique<Decompressed>(std::move(source), compression);
}

SourceRef decompressed(SourceRef source) {
  std::vector<std::byte> beginning(magic_bytes);
  beginning.resize(source->read(beginning));
  const Compression compression = compression_by_magic(beginning);
  return decompressed(std::make_unique<Begun>(std::move(source), std::move(beginning)), compression);
}

}  // namespace actorflow
