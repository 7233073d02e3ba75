#include "schema/io/read_ahead.h"

#include <algorithm>
#include <cstring>

namespace actorflow {

kj::Promise<std::size_t> ReadAhead::tryRead(void* buffer, std::size_t min_bytes, std::size_t max_bytes) {
  auto* to = static_cast<std::byte*>(buffer);
  const std::size_t ready = take(to, max_bytes);
  if (ready >= min_bytes) return ready;
  to += ready;
  min_bytes -= ready;
  max_bytes -= ready;
  if (min_bytes >= buffer_.size())
    return read_in_parts(to, min_bytes, max_bytes).then([ready](std::size_t size) {
      return ready + size;
    });
  return stream_->tryRead(buffer_.data(), min_bytes, buffer_.size())
      .then([this, to, max_bytes, ready](std::size_t size) {
        begin_ = 0;
        end_ = size;
        return ready + take(to, max_bytes);
      });
}

kj::Promise<std::size_t> ReadAhead::read_in_parts(std::byte* to, std::size_t min_bytes,
                                                  std::size_t max_bytes) {
  if (!progress_) return stream_->tryRead(to, min_bytes, max_bytes);
  return stream_->tryRead(to, 1, max_bytes)
      .then([this, to, min_bytes, max_bytes](std::size_t size) -> kj::Promise<std::size_t> {
        if (size == 0 || size >= min_bytes) return size;
        progress_();
        return read_in_parts(to + size, min_bytes - size, max_bytes - size)
            .then([size](std::size_t rest) { return size + rest; });
      });
}

std::size_t ReadAhead::take(std::byte* to, std::size_t max_bytes) {
  const std::size_t size = std::min(max_bytes, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, size);
  begin_ += size;
  return size;
}

}  // namespace actorflow
