// TFRecord files, as TensorFlow and TensorBoard read and write them:
//
//   file   := record*
//   record := u64 size, u32 crc(size), byte[size], u32 crc(bytes)      all little-endian
//
// where crc is the masked CRC-32C: rotated right by 15 bits, plus 0xa282ead8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace actorflow {

std::uint32_t masked_crc32c(std::span<const std::byte> bytes);

// Appends one record to `file`.
void append_record(std::vector<std::byte>& file, std::span<const std::byte> record);

// Takes a file in pieces of any size and gives its records. Holds no more than was fed and not yet
// given, so an announced size takes no memory by itself. Not thread-safe.
class TfRecordReader {
 public:
  static constexpr std::uint64_t default_max_record_bytes = std::uint64_t{1} << 30;

  // `name` is the file's, for errors.
  explicit TfRecordReader(std::string name, std::uint64_t max_record_bytes = default_max_record_bytes)
      : name_(std::move(name)), max_record_bytes_(max_record_bytes) {}

  // Adds the next bytes of the file.
  void feed(std::span<const std::byte> bytes);
  // The next record, valid until the next call of this object; none if more bytes are needed. Throws
  // data_loss if a checksum is wrong, resource_exhausted if the record is above the limit; both name
  // file, record and offset, and every later call throws them again.
  std::optional<std::span<const std::byte>> next();
  // Call at the end of the file. Throws data_loss if it ends within a record.
  void finish() const;

  std::uint64_t records() const { return records_; }            // returned so far
  std::uint64_t offset_bytes() const { return offset_bytes_; }  // of the next record

 private:
  std::span<const std::byte> waiting() const { return std::span(buffer_).subspan(begin_); }
  std::string place() const;  // "record 3 at byte 120 of 'name'"

  std::string name_;
  std::uint64_t max_record_bytes_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // of the next record in the buffer
  std::uint64_t records_ = 0;
  std::uint64_t offset_bytes_ = 0;
};

}  // namespace actorflow
