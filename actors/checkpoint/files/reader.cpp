#include "actors/checkpoint/files/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "actors/checkpoint/files/safetensors.h"
#include "dataflow/values/error.h"
#include "schema/checksum.h"

namespace actorflow {
namespace {

using Pieces = std::vector<const Manifest::Entry*>;

Error damaged(const std::string& what) { return {Code::data_loss, what}; }

bool is_sliced(const Manifest::Entry& piece) { return piece.full_rows >= 0 && piece.shape.rank() > 0; }

std::uint64_t row_bytes(const Manifest::Entry& piece) {
  return piece.rows() > 0 ? piece.size_bytes / static_cast<std::uint64_t>(piece.rows()) : 0;
}

// Slices are copied into one tensor by their bytes.
void check_alike(const Pieces& pieces) {
  const auto& first = *pieces.front();
  for (const auto* piece : pieces) {
    const bool alike = piece->dtype == first.dtype && piece->full_rows == first.full_rows &&
                       piece->shape.rank() == first.shape.rank() &&
                       std::ranges::equal(piece->shape.dims().subspan(1), first.shape.dims().subspan(1));
    if (!alike || piece->dtype == DType::string)
      throw damaged(fmt::format("tensor '{}' has slices that do not make one: {}{} and {}{}", first.name,
                                std::string(to_string(first.dtype)), first.shape.to_string(),
                                std::string(to_string(piece->dtype)), piece->shape.to_string()));
  }
}

}  // namespace

PiecesByName pieces_by_name(const Manifest& manifest) {
  PiecesByName pieces;
  for (const auto& entry : manifest.tensors) pieces[entry.name].push_back(&entry);
  for (auto& [name, list] : pieces) std::ranges::stable_sort(list, {}, &Manifest::Entry::first_row);
  return pieces;
}

Shape whole_shape(const Pieces& pieces) {
  Shape shape = pieces.front()->shape;
  if (is_sliced(*pieces.front())) shape.set(0, pieces.front()->full_rows);
  return shape;
}

CheckpointReader::CheckpointReader(Storage& storage, const std::string& folder, Manifest manifest,
                                   const std::vector<TensorRange>& ranges)
    : storage_(storage), folder_(folder), manifest_(std::move(manifest)) {
  const PiecesByName pieces = pieces_by_name(manifest_);
  for (const auto& range : ranges) plan(range, pieces);
  for (const auto& copy : copies_) file_of(*copy.from);
}

void CheckpointReader::plan(const TensorRange& range, const PiecesByName& pieces) {
  const auto found = pieces.find(range.name);
  if (found == pieces.end())
    throw Error(Code::not_found, fmt::format("the checkpoint of step {} has no tensor '{}'",
                                             manifest_.global_step, range.name));
  const Pieces& list = found->second;
  if (is_sliced(*list.front())) return plan_rows(range, list);
  // A scalar beside a sliced variable, such as Adam's step: that of the slice in which the rows begin.
  const auto* piece = list.front();
  for (const auto* other : list)
    if (other->first_row <= range.first_row) piece = other;
  if (piece->shape.rank() > 0 && range.rows >= 0) return plan_rows(range, {piece});
  copies_.push_back({piece, targets_.size(), 0, piece->size_bytes, 0});
  targets_.push_back({piece->dtype, piece->shape, {}, {}});
}

void CheckpointReader::plan_rows(const TensorRange& range, const Pieces& pieces) {
  Shape shape = whole_shape(pieces);
  const bool all_of_it = range.rows < 0;
  std::int64_t row = all_of_it ? 0 : range.first_row, end = shape[0];
  if (!all_of_it && (row < 0 || __builtin_add_overflow(row, range.rows, &end) || end > shape[0]))
    throw damaged(
        fmt::format("{} rows from {} on are not in tensor '{}' of the checkpoint of step {}, which "
                    "has {}",
                    range.rows, row, range.name, manifest_.global_step, shape[0]));
  check_alike(pieces);
  shape.set(0, end - row);
  std::uint64_t to_offset = 0;
  for (const auto* piece : pieces) {
    const std::int64_t piece_end = piece->first_row + piece->rows();
    if (row >= end || piece_end <= row || piece->first_row > row) continue;
    const auto begin_byte = static_cast<std::uint64_t>(row - piece->first_row) * row_bytes(*piece);
    row = std::min(end, piece_end);
    const auto end_byte = static_cast<std::uint64_t>(row - piece->first_row) * row_bytes(*piece);
    copies_.push_back({piece, targets_.size(), begin_byte, end_byte, to_offset});
    to_offset += end_byte - begin_byte;
  }
  if (row != end)
    throw damaged(fmt::format("rows {} to {} of tensor '{}' are in no file of the checkpoint of step {}",
                              row, end, range.name, manifest_.global_step));
  targets_.push_back({pieces.front()->dtype, shape, {}, {}});
}

// Opens a file when it is first asked for, and checks its header.
OpenFile& CheckpointReader::file_of(const Manifest::Entry& entry) {
  auto& file = files_[entry.file];
  if (file) return *file;
  const auto& expected = manifest_.files[entry.file];
  const std::string path = folder_ + "/" + expected.name;
  file = storage_.open(path);
  if (const auto size = file->size_bytes(); size != expected.size_bytes)
    throw damaged(fmt::format("{}: expected {} bytes, but it has {}", path, expected.size_bytes, size));
  std::vector<std::byte> header(expected.header_bytes);
  file->read(0, header);
  if (checksum(header) != expected.header_checksum)
    throw damaged(fmt::format("{}: the checksum of its header is wrong", path));
  return *file;
}

std::span<std::byte> CheckpointReader::bytes_of(Target& target) {
  if (target.dtype == DType::string) return target.packed;
  if (!target.tensor.valid()) target.tensor = Tensor::allocate(target.dtype, target.shape);
  return {static_cast<std::byte*>(target.tensor.mutable_data()), target.tensor.size_bytes()};
}

bool CheckpointReader::read_some() {
  std::uint64_t left = manifest_.block_bytes;
  while (!copies_.empty() && left > 0) {
    Copy& copy = copies_.front();
    if (copy.begin == copy.end) {
      copies_.pop_front();
      continue;
    }
    Target& target = targets_[copy.to];
    if (target.dtype == DType::string) target.packed.resize(copy.from->size_bytes);
    const std::uint64_t block = copy.begin / manifest_.block_bytes;
    const std::uint64_t block_end = std::min((block + 1) * manifest_.block_bytes, copy.end);
    read_block(copy, block);
    const std::uint64_t size = block_end - copy.begin;
    copy.begin += size;
    copy.to_offset += size;
    left -= std::min(left, size);
  }
  return !copies_.empty();
}

void CheckpointReader::read_block(const Copy& copy, std::uint64_t block) {
  const Manifest::Entry& piece = *copy.from;
  const std::uint64_t begin = block * manifest_.block_bytes;
  const std::uint64_t size = std::min(manifest_.block_bytes, piece.size_bytes - begin);
  const std::uint64_t end = std::min(begin + size, copy.end);
  const auto wanted = bytes_of(targets_[copy.to]).subspan(copy.to_offset, end - copy.begin);
  const bool all_of_it = wanted.size() == size;
  if (!all_of_it) scratch_.resize(size);
  const std::span<std::byte> bytes = all_of_it ? wanted : std::span(scratch_);
  file_of(piece).read(piece.offset + begin, bytes);
  if (checksum(bytes) != piece.checksums[block])
    throw damaged(fmt::format("{}/{}: the checksum of tensor '{}' is wrong at byte {} of the file",
                              folder_, manifest_.files[piece.file].name, piece.name,
                              piece.offset + begin));
  if (!all_of_it) std::memcpy(wanted.data(), bytes.data() + (copy.begin - begin), wanted.size());
}

std::vector<Tensor> CheckpointReader::take() {
  std::vector<Tensor> tensors;
  for (auto& target : targets_) {
    bytes_of(target);
    tensors.push_back(target.dtype == DType::string
                          ? unpack_tensor(target.dtype, target.shape, target.packed)
                          : std::move(target.tensor));
  }
  return tensors;
}

}  // namespace actorflow
