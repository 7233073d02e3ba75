// Our files as Arrow's.
#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "schema/parquet/parquet_file.h"

namespace actorflow {

// An exception of reading becomes an IOError for Arrow, and is kept for the caller of Arrow (rethrow()).
class ArrowBytes final : public arrow::io::RandomAccessFile {
 public:
  explicit ArrowBytes(ParquetBytes bytes) : bytes_(std::move(bytes)) {}

  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t count, void* into) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                       std::int64_t count) override;
  arrow::Result<std::int64_t> Read(std::int64_t count, void* into) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t count) override;
  arrow::Result<std::int64_t> GetSize() override { return static_cast<std::int64_t>(bytes_.size); }
  arrow::Status Seek(std::int64_t position) override;
  arrow::Result<std::int64_t> Tell() const override { return position_; }
  arrow::Status Close() override;
  bool closed() const override { return is_closed_; }

  const std::string& name() const { return bytes_.name; }
  std::uint64_t size() const { return bytes_.size; }
  // Throws what reading threw, if it threw.
  void rethrow() const;

 private:
  const ParquetBytes bytes_;
  std::int64_t position_ = 0;
  bool is_closed_ = false;
  std::exception_ptr failure_;
};

}  // namespace actorflow
