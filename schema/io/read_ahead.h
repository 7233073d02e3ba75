// A socket that is read with fewer system calls. Internal to schema/: includes kj.
#pragma once

#include <kj/async-io.h>

#include <array>
#include <cstddef>
#include <functional>
#include <utility>

namespace actorflow {

// Reads several small messages at once. Data larger than the buffer is read to its destination without a
// copy, except its beginning.
class ReadAhead final : public kj::AsyncIoStream {
 public:
  // `progress` is called for each part of data that arrives in several.
  explicit ReadAhead(kj::Own<kj::AsyncIoStream> stream, std::function<void()> progress = {})
      : stream_(kj::mv(stream)), progress_(std::move(progress)) {}

  kj::Promise<std::size_t> tryRead(void* buffer, std::size_t min_bytes, std::size_t max_bytes) override;

  kj::Promise<void> write(const void* buffer, std::size_t size) override {
    return stream_->write(buffer, size);
  }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    return stream_->write(pieces);
  }
  kj::Promise<void> whenWriteDisconnected() override { return stream_->whenWriteDisconnected(); }
  void shutdownWrite() override { stream_->shutdownWrite(); }
  void abortRead() override { stream_->abortRead(); }

 private:
  kj::Promise<std::size_t> read_in_parts(std::byte* to, std::size_t min_bytes, std::size_t max_bytes);
  // Moves up to `max_bytes` of the buffer to `to`; returns the number of bytes.
  std::size_t take(std::byte* to, std::size_t max_bytes);

  kj::Own<kj::AsyncIoStream> stream_;
  const std::function<void()> progress_;
  std::array<std::byte, 8192> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // the range of the buffer that holds data
};

}  // namespace actorflow
