#include "actors/named/message_type.h"

#include <fmt/format.h>

namespace actorflow::detail {

std::span<const std::byte> payload_bytes(const Tensor& payload) {
  if (!payload.valid()) return {};
  if (payload.dtype() != DType::uint8 || payload.shape().rank() != 1)
    throw Error(Code::data_loss, "a message between actors holds " + payload.describe() +
                                     " instead of bytes: uint8 in one dimension");
  return std::as_bytes(payload.values<std::uint8_t>());
}

Tensor make_payload(std::size_t size_bytes) {
  return Tensor::allocate(DType::uint8, {static_cast<std::int64_t>(size_bytes)});
}

void throw_rest_of_payload(const std::string& type, std::size_t bytes) {
  throw Error(Code::data_loss, fmt::format("{} bytes follow behind a message {}", bytes, type));
}

void check_answer(const RawAnswer& answer, const std::string& expected) {
  throw_if_error(answer.status);
  if (answer.type != expected)
    throw invalid_argument(
        fmt::format("expected {} as the answer, but it is {}", expected, answer.type));
}

}  // namespace actorflow::detail
