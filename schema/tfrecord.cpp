#include "schema/tfrecord.h"

#include <bit>

#include "dataflow/values/error.h"
#include "schema/crc32c.h"

namespace actorflow {
namespace {

constexpr std::size_t length_bytes = 8, crc_bytes = 4, header_bytes = length_bytes + crc_bytes;

template <class T>
void append_little_endian(std::vector<std::byte>& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

template <class T>
T read_little_endian(std::span<const std::byte> bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(bytes[i]) << (8 * i);
  return value;
}

bool crc_fits(std::span<const std::byte> bytes, std::span<const std::byte> crc) {
  return masked_crc32c(bytes) == read_little_endian<std::uint32_t>(crc);
}

}  // namespace

std::uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

void append_record(std::vector<std::byte>& file, std::span<const std::byte> record) {
  const std::size_t begin = file.size();
  append_little_endian<std::uint64_t>(file, record.size());
  append_little_endian(file, masked_crc32c(std::span(file).subspan(begin, length_bytes)));
  file.insert(file.end(), record.begin(), record.end());
  append_little_endian(file, masked_crc32c(record));
}

void TfRecordReader::feed(std::span<const std::byte> bytes) {
  // What has been given goes, at the latest when it is half of the buffer: each byte moves once at most.
  if (begin_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<std::span<const std::byte>> TfRecordReader::next() {
  const auto bytes = waiting();
  if (bytes.size() < header_bytes) return std::nullopt;
  if (!crc_fits(bytes.first(length_bytes), bytes.subspan(length_bytes, crc_bytes)))
    throw Error(Code::data_loss, place() +
                                     ": the checksum of its length is wrong; the file is damaged, "
                                     "or is no TFRecord file");
  const auto size = read_little_endian<std::uint64_t>(bytes);
  if (size > max_record_bytes_)
    throw Error(Code::resource_exhausted, place() + " has " + std::to_string(size) +
                                              " bytes, but the reader's limit is " +
                                              std::to_string(max_record_bytes_));
  if (bytes.size() - header_bytes < size || bytes.size() - header_bytes - size < crc_bytes)
    return std::nullopt;
  const auto record = bytes.subspan(header_bytes, size);
  if (!crc_fits(record, bytes.subspan(header_bytes + size, crc_bytes)))
    throw Error(Code::data_loss, place() + ": the checksum of its " + std::to_string(size) +
                                     " bytes is wrong; the file is damaged");
  begin_ += header_bytes + size + crc_bytes;
  offset_bytes_ += header_bytes + size + crc_bytes;
  ++records_;
  return record;
}

void TfRecordReader::finish() const {
  if (!waiting().empty())
    throw Error(Code::data_loss, place() + " is cut off: the file ends " +
                                     std::to_string(waiting().size()) + " bytes into it");
}

std::string TfRecordReader::place() const {
  return "record " + std::to_string(records_) + " at byte " + std::to_string(offset_bytes_) + " of '" +
         name_ + "'";
}

}  // namespace actorflow
