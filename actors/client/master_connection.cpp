#include "actors/client/master_connection.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "kernels/core/kernel.h"

namespace actorflow {
namespace {

constexpr std::string_view scheme = "actorflow://";

constexpr std::int64_t least_silence_ms = 10'000, most_silence_ms = 30'000;

std::int64_t silence_for(std::int64_t step_timeout_ms) {
  if (step_timeout_ms <= 0) return most_silence_ms;
  return std::clamp(step_timeout_ms, least_silence_ms, most_silence_ms);
}

}  // namespace

MasterConnection::MasterConnection(const std::string& target, std::int64_t connect_timeout_ms,
                                   const std::string& credentials, std::int64_t step_timeout_ms)
    : local_(local_servers().find(target)) {
  if (local_) return;
  if (!target.starts_with(scheme))
    throw invalid_argument(
        "unknown session target '" + target +
        "'; expected actorflow://host:port, or the target of a server of this process");
  const std::string address = target.substr(scheme.size());
  remote_ = std::make_unique<MasterClient>(
      address, cpu_device().allocator(), connect_timeout_ms, credentials, silence_for(step_timeout_ms),
      [&](const std::string& why) {
        spdlog::info("waiting for an answer of the master at {}, for {} s at most: {}", address,
                     connect_timeout_ms / 1000, why);
      });
}

MasterReply MasterConnection::call(MasterRequest request) const {
  if (remote_) return remote_->call(request);
  try {
    return local_->call(std::move(request));
  } catch (const Error& error) {
    MasterReply reply;
    reply.status = error.status();
    return reply;
  }
}

}  // namespace actorflow
