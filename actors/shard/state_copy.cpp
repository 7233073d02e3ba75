#include "actors/shard/state_copy.h"

#include <cstring>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t word = sizeof(std::int64_t);
constexpr std::int64_t most_slots = 1 << 10, longest_dim = std::int64_t{1} << 40;

std::size_t padded(std::size_t bytes) { return (bytes + word - 1) / word * word; }

// Writes to memory; without memory it only counts the bytes.
class Writer {
 public:
  explicit Writer(std::byte* to) : to_(to) {}
  void number(std::int64_t value) { bytes(&value, word); }
  void bytes(const void* from, std::size_t size) {
    if (to_) {
      std::memset(to_ + at_, 0, padded(size));
      if (size > 0) std::memcpy(to_ + at_, from, size);
    }
    at_ += padded(size);
  }
  void tensor(const Tensor& tensor) {
    number(static_cast<std::int64_t>(tensor.dtype()));
    number(tensor.shape().rank());
    for (int axis = 0; axis < tensor.shape().rank(); ++axis) number(tensor.shape()[axis]);
    bytes(tensor.data(), tensor.size_bytes());
  }
  void state(const CopiedState& state) {
    number(static_cast<std::int64_t>(state.slots_of.size()));
    bytes(state.slots_of.data(), state.slots_of.size());
    number(std::ssize(state.tensors));
    for (const Tensor& each : state.tensors) tensor(each);
  }
  std::size_t size() const { return at_; }

 private:
  std::byte* to_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
  bool at_end() const { return left_.empty(); }
  std::span<const std::byte> bytes(std::size_t size) {
    if (size > left_.size() || padded(size) > left_.size()) fail();
    const auto taken = left_.first(size);
    left_ = left_.subspan(padded(size));
    return taken;
  }
  std::int64_t number(std::int64_t most) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes(word).data(), word);
    if (value < 0 || value > most) fail();
    return value;
  }
  std::string text() {
    const auto characters = bytes(static_cast<std::size_t>(number(std::ssize(left_))));
    return {reinterpret_cast<const char*>(characters.data()), characters.size()};
  }
  Tensor tensor() {
    const auto dtype = static_cast<DType>(number(most_slots));
    if (!is_plain(dtype)) fail();
    std::vector<std::int64_t> dims(static_cast<std::size_t>(number(Shape::max_rank)));
    for (auto& dim : dims) dim = number(longest_dim);
    std::int64_t elements = 1;
    for (const auto dim : dims)
      if (__builtin_mul_overflow(elements, dim, &elements) || elements > std::ssize(left_)) fail();
    Tensor made = Tensor::allocate(dtype, Shape{std::span<const std::int64_t>(dims)});
    const auto values = bytes(made.size_bytes());
    if (!values.empty()) std::memcpy(made.mutable_data(), values.data(), values.size());
    return made;
  }
  CopiedState state() {
    CopiedState state{text(), {}};
    const std::int64_t count = number(most_slots);
    if (count < 1) fail();
    for (std::int64_t i = 0; i < count; ++i) state.tensors.push_back(tensor());
    return state;
  }

  [[noreturn]] static void fail() {
    throw Error(Code::data_loss, "the bytes are not those of the variables that another replica has");
  }

 private:
  static bool is_plain(DType dtype) { return dtype != DType::string && size_of(dtype) > 0; }

  std::span<const std::byte> left_;
};

void write(Writer& writer, std::span<const CopiedState> states) {
  for (const CopiedState& state : states) writer.state(state);
}

}  // namespace

Tensor encode_states(std::span<const CopiedState> states) {
  for (const CopiedState& state : states)
    if (state.tensors[0].dtype() == DType::string)
      throw Error(Code::unimplemented, "a variable of strings does not travel between replicas");
  Writer counter(nullptr);
  write(counter, states);
  Tensor bytes = Tensor::allocate(DType::uint8, {static_cast<std::int64_t>(counter.size())});
  Writer writer(static_cast<std::byte*>(bytes.mutable_data()));
  write(writer, states);
  return bytes;
}

std::vector<CopiedState> decode_states(const Tensor& bytes, std::size_t count) {
  Reader reader({static_cast<const std::byte*>(bytes.data()), bytes.size_bytes()});
  std::vector<CopiedState> states;
  for (std::size_t i = 0; i < count; ++i) states.push_back(reader.state());
  if (!reader.at_end()) Reader::fail();
  return states;
}

}  // namespace actorflow
