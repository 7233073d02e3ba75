#include <zstd.h>

#include "dataflow/values/error.h"
#include "schema/formats/codecs.h"

namespace actorflow {
namespace {

constexpr int level = 3;  // the library's default

template <class Stream>
Stream* required(Stream* stream) {
  if (stream == nullptr) throw Error(Code::resource_exhausted, "no memory for a zstd stream");
  return stream;
}

class ZstdDecoder final : public Decoder {
 public:
  Step decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &in);
    return {in.pos, out.pos, code == 0, ZSTD_isError(code) != 0 ? ZSTD_getErrorName(code) : nullptr};
  }
  // A block of one repeated byte: 128 KiB of 4 bytes.
  std::uint64_t most_bytes_of_one() const override { return 32768; }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_{required(ZSTD_createDStream()),
                                                                     &ZSTD_freeDStream};
};

class ZstdEncoder final : public Encoder {
 public:
  ZstdEncoder() {
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
  }

  void encode(std::span<const std::byte> from, bool last, std::vector<std::byte>& to) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    for (bool more = true; more;) {
      const std::size_t begin = to.size();
      to.resize(begin + ZSTD_CStreamOutSize());
      ZSTD_outBuffer out{to.data() + begin, to.size() - begin, 0};
      const std::size_t left =
          ZSTD_compressStream2(stream_.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0)
        throw Error(Code::resource_exhausted, std::string("zstd: ") + ZSTD_getErrorName(left));
      to.resize(begin + out.pos);
      more = last ? left > 0 : in.pos < in.size;
    }
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> stream_{required(ZSTD_createCCtx()),
                                                               &ZSTD_freeCCtx};
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() { return std::make_unique<ZstdDecoder>(); }
std::unique_ptr<Encoder> make_zstd_encoder() { return std::make_unique<ZstdEncoder>(); }

}  // namespace actorflow
