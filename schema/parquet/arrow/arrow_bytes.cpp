#include "schema/parquet/arrow/arrow_bytes.h"

#include <algorithm>

namespace actorflow {

arrow::Result<std::int64_t> ArrowBytes::ReadAt(std::int64_t position, std::int64_t count, void* into) {
  const auto size = static_cast<std::int64_t>(bytes_.size);
  if (position < 0 || count < 0 || position > size)
    return arrow::Status::IOError("expected a place in the ", size, " bytes, got ", position);
  const std::int64_t got = std::min(count, size - position);
  try {
    if (got > 0)
      bytes_.read(static_cast<std::uint64_t>(position),
                  {static_cast<std::byte*>(into), static_cast<std::size_t>(got)});
    return got;
  } catch (...) {
    failure_ = std::current_exception();
    return arrow::Status::IOError("cannot read ", bytes_.name);
  }
}

// Never takes more memory than the file has bytes, whatever sizes a damaged file announces.
arrow::Result<std::shared_ptr<arrow::Buffer>> ArrowBytes::ReadAt(std::int64_t position,
                                                                 std::int64_t count) {
  const std::int64_t left = std::max<std::int64_t>(0, static_cast<std::int64_t>(bytes_.size) - position);
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(std::min(count, left)));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t got,
                        ReadAt(position, buffer->size(), buffer->mutable_data()));
  ARROW_RETURN_NOT_OK(buffer->Resize(got));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<std::int64_t> ArrowBytes::Read(std::int64_t count, void* into) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t got, ReadAt(position_, count, into));
  position_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ArrowBytes::Read(std::int64_t count) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, count));
  position_ += buffer->size();
  return buffer;
}

arrow::Status ArrowBytes::Seek(std::int64_t position) {
  position_ = position;
  return arrow::Status::OK();
}

arrow::Status ArrowBytes::Close() {
  is_closed_ = true;
  return arrow::Status::OK();
}

void ArrowBytes::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace actorflow
