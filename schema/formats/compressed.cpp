#include "schema/formats/byte_sink.h"
#include "schema/formats/codecs.h"

namespace actorflow {
namespace {

constexpr std::size_t raw_bytes = std::size_t{1} << 18;

std::unique_ptr<Encoder> make_encoder(Compression compression) {
  if (compression == Compression::gzip) return make_gzip_encoder();
  if (compression == Compression::zstd) return make_zstd_encoder();
  return make_lz4_encoder();
}

class Compressed final : public ByteSink {
 public:
  Compressed(SinkRef sink, Compression compression)
      : sink_(std::move(sink)), encoder_(make_encoder(compression)) {}

  void write(std::span<const std::byte> bytes) override {
    encoder_->encode(bytes, false, waiting_);
    if (waiting_.size() >= raw_bytes) flush();
  }

  void finish() override {
    encoder_->encode({}, true, waiting_);
    flush();
    sink_->finish();
  }

 private:
  void flush() {
    sink_->write(waiting_);
    waiting_.clear();
  }

  SinkRef sink_;
  std::unique_ptr<Encoder> encoder_;
  std::vector<std::byte> waiting_;
};

}  // namespace

SinkRef compressed(SinkRef sink, Compression compression) {
  if (compression == Compression::none) return sink;
  return std::make_unique<Compressed>(std::move(sink), compression);
}

}  // namespace actorflow
