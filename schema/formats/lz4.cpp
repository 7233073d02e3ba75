#include <lz4frame.h>

#include <algorithm>

#include "dataflow/values/error.h"
#include "schema/formats/codecs.h"

namespace actorflow {
namespace {

void check(std::size_t code) {
  if (LZ4F_isError(code) != 0)
    throw Error(Code::resource_exhausted, std::string("lz4: ") + LZ4F_getErrorName(code));
}

class Lz4Decoder final : public Decoder {
 public:
  Lz4Decoder() { check(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)); }
  Lz4Decoder(const Lz4Decoder&) = delete;
  Lz4Decoder& operator=(const Lz4Decoder&) = delete;
  ~Lz4Decoder() override { LZ4F_freeDecompressionContext(context_); }

  Step decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    std::size_t taken = from.size(), made = to.size();
    const std::size_t code = LZ4F_decompress(context_, to.data(), &made, from.data(), &taken, nullptr);
    if (LZ4F_isError(code) != 0) return {0, 0, false, LZ4F_getErrorName(code)};
    return {taken, made, code == 0, nullptr};
  }
  std::uint64_t most_bytes_of_one() const override { return 255; }

 private:
  LZ4F_dctx* context_ = nullptr;
};

class Lz4Encoder final : public Encoder {
 public:
  Lz4Encoder() {
    preferences_.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    check(LZ4F_createCompressionContext(&context_, LZ4F_VERSION));
  }
  Lz4Encoder(const Lz4Encoder&) = delete;
  Lz4Encoder& operator=(const Lz4Encoder&) = delete;
  ~Lz4Encoder() override { LZ4F_freeCompressionContext(context_); }

  void encode(std::span<const std::byte> from, bool last, std::vector<std::byte>& to) override {
    if (!begun_)
      append(to, LZ4F_HEADER_SIZE_MAX, [this](std::byte* out, std::size_t room) {
        return LZ4F_compressBegin(context_, out, room, &preferences_);
      });
    begun_ = true;
    for (constexpr std::size_t most = 1 << 20; !from.empty();) {
      const auto piece = from.first(std::min(from.size(), most));
      from = from.subspan(piece.size());
      append(to, LZ4F_compressBound(piece.size(), &preferences_), [&](std::byte* out, std::size_t room) {
        return LZ4F_compressUpdate(context_, out, room, piece.data(), piece.size(), nullptr);
      });
    }
    if (last)
      append(to, LZ4F_compressBound(0, &preferences_), [this](std::byte* out, std::size_t room) {
        return LZ4F_compressEnd(context_, out, room, nullptr);
      });
  }

 private:
  template <class Make>
  void append(std::vector<std::byte>& to, std::size_t room, Make&& make) {
    const std::size_t begin = to.size();
    to.resize(begin + room);
    const std::size_t made = make(to.data() + begin, room);
    check(made);
    to.resize(begin + made);
  }

  LZ4F_cctx* context_ = nullptr;
  LZ4F_preferences_t preferences_ = LZ4F_INIT_PREFERENCES;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_lz4_decoder() { return std::make_unique<Lz4Decoder>(); }
std::unique_ptr<Encoder> make_lz4_encoder() { return std::make_unique<Lz4Encoder>(); }

}  // namespace actorflow
