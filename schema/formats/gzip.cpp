// By ISA-L: of a text 320 to 460 MB/s where zlib makes 130 to 190.
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>

#include "schema/formats/codecs.h"

namespace actorflow {
namespace {

constexpr std::size_t max_piece = std::numeric_limits<std::uint32_t>::max();

std::uint8_t* bytes_of(const std::byte* data) {  // ISA-L does not write to its input
  return reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(data));
}

const char* text_of(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance";
    case ISAL_INVALID_WRAPPER:
      return "invalid header";
    case ISAL_INCORRECT_CHECKSUM:
      return "wrong checksum";
    default:
      return "unknown method";
  }
}

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  Step decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    state_.next_in = bytes_of(from.data());
    state_.avail_in = static_cast<std::uint32_t>(std::min(from.size(), max_piece));
    state_.next_out = reinterpret_cast<std::uint8_t*>(to.data());
    state_.avail_out = static_cast<std::uint32_t>(std::min(to.size(), max_piece));
    const int code = isal_inflate(&state_);
    Step step{static_cast<std::size_t>(state_.next_in - bytes_of(from.data())),
              static_cast<std::size_t>(state_.next_out - reinterpret_cast<std::uint8_t*>(to.data()))};
    if (code < 0 || code == ISAL_NEED_DICT) step.error = text_of(code);
    step.ended = state_.block_state == ISAL_BLOCK_FINISH;
    if (step.ended) {
      isal_inflate_reset(&state_);
      state_.crc_flag = ISAL_GZIP;
    }
    return step;
  }

  // zlib's documentation, "Maximum Compression Factor".
  std::uint64_t most_bytes_of_one() const override { return 1032; }

 private:
  inflate_state state_;
};

class GzipEncoder final : public Encoder {
 public:
  GzipEncoder() : memory_(ISAL_DEF_LVL1_DEFAULT) {
    isal_deflate_init(&stream_);
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.level = 1;
    stream_.level_buf = memory_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(memory_.size());
  }

  void encode(std::span<const std::byte> from, bool last, std::vector<std::byte>& to) override {
    do {
      const auto piece = from.first(std::min(from.size(), max_piece));
      from = from.subspan(piece.size());
      stream_.next_in = bytes_of(piece.data());
      stream_.avail_in = static_cast<std::uint32_t>(piece.size());
      stream_.end_of_stream = last && from.empty();
      drain(to);
    } while (!from.empty());
  }

 private:
  void drain(std::vector<std::byte>& to) {
    constexpr std::uint32_t room = 1 << 16;
    do {
      to.resize(to.size() + room);
      stream_.next_out = bytes_of(to.data() + to.size() - room);
      stream_.avail_out = room;
      isal_deflate(&stream_);  // fails only for parameters that it does not know
      to.resize(to.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  isal_zstream stream_;
  std::vector<std::uint8_t> memory_;
};

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder() { return std::make_unique<GzipDecoder>(); }
std::unique_ptr<Encoder> make_gzip_encoder() { return std::make_unique<GzipEncoder>(); }

}  // namespace actorflow
