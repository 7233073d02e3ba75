// What messages between ranks cost: measured by the leader while its group opens, so that all ranks
// know the same numbers when it is open.
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstring>

#include "actors/collectives/engine/collectives.h"

namespace actorflow {

using namespace rank_messages;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t probe_bytes = std::int64_t{1} << 20;
// No rank waits longer for the measurement. On a network this slow a choice matters less than the wait.
constexpr auto longest_probe = 300ms;

// A rank whose link from rank 0 is within the host, or not; -1: there is none.
int rank_on(bool own_host, const std::vector<std::string>& hosts) {
  for (std::size_t rank = 1; rank < hosts.size(); ++rank)
    if ((hosts[rank] == hosts[leading_rank]) == own_host) return static_cast<int>(rank);
  return -1;
}

std::uint64_t digest_of(const Tensor& payload) {
  std::uint64_t digest = 0;
  if (!payload.valid()) return digest;
  const auto bytes = payload.values<std::uint8_t>();
  for (std::size_t at = 0; at + sizeof digest <= bytes.size(); at += sizeof digest) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    digest += word;
  }
  return digest;
}

template <class M>
ActorMessage letter(const M& message, Tensor payload) {
  return {.to = collectives_name,
          .from = collectives_name,
          .type = message_type<M>(),
          .request = 0,
          .content = to_payload(message),
          .payload = std::move(payload),
          .status = {}};
}

}  // namespace

// Whether the group has to wait for a measurement, which this begins. Each kind of link is measured once
// in the life of a task: groups open anew after each loss.
bool Collectives::measures(Member& member) {
  if (member.probe) return true;
  if (!member.group->needs_costs()) return false;
  const RankMail& mail = member.group->mail();
  for (const LinkKind kind : {LinkKind::host, LinkKind::network}) {
    const auto place = static_cast<std::size_t>(kind);
    if (!member.links[place]) member.links[place] = links_[place];
    if (member.links[place]) continue;
    const int rank = rank_on(kind == LinkKind::host, mail.hosts());
    if (rank < 0) continue;
    begin_probe(member, kind, mail.member(rank));
    return true;
  }
  return false;
}

void Collectives::begin_probe(Member& member, LinkKind kind, TaskId task) {
  member.probed = kind;
  member.probed_task = task;
  member.probe.emplace(Tensor::zeros(DType::uint8, {probe_bytes}, task_->sending_device->allocator()));
  self_->delayed_send(self_, longest_probe, EndProbe{member.group->name(), member.attempt});
  member.probe->begin(task_->clock->now(), send_probe(member));
}

LinkProbe::Send Collectives::send_probe(const Member& member) const {
  return [this, &member](std::uint32_t number, const Tensor& payload) {
    tell(*task_, member.probed_task,
         letter(Probe{member.group->name(), member.attempt, number}, payload));
  };
}

void Collectives::on_probe(const Sender& from, const Probe& probe, const Tensor& payload) {
  tell(*task_, from.task,
       letter(Probed{probe.group, probe.attempt, probe.number, digest_of(payload)}, {}));
}

void Collectives::on_probed(const Sender& from, const Probed& answer) {
  const auto found = groups_.find(answer.group);
  if (found == groups_.end()) return;
  Member& member = found->second;
  if (member.attempt != answer.attempt || !member.probe || from.task != member.probed_task) return;
  if (!member.probe->answered(answer.number, task_->clock->now(), send_probe(member))) return;
  end_probe(member);
  links_[static_cast<std::size_t>(member.probed)] =
      member.links[static_cast<std::size_t>(member.probed)];
  try_to_welcome(member);
}

void Collectives::on_end_of_probe(const EndProbe& message) {
  const auto found = groups_.find(message.group);
  if (found == groups_.end()) return;
  Member& member = found->second;
  if (member.attempt != message.attempt || !member.probe) return;
  end_probe(member);
  // The time is that of all kinds: what has not begun by now takes the usual costs.
  const CostModel usual;
  if (auto& network = member.links[static_cast<std::size_t>(LinkKind::network)]; !network)
    network = usual.network;
  try_to_welcome(member);
}

void Collectives::end_probe(Member& member) {
  const bool network = member.probed == LinkKind::network;
  const CostModel usual;
  const LinkCost cost = link_cost(member.probe->times(), network ? usual.network : usual.host);
  spdlog::debug("{}: a message {} takes {:.1f} us, and {:.2f} ns for each KiB",
                task_->self.name.to_string(), network ? "to another host" : "within the host",
                1e6 * (cost.latency + cost.per_message),
                1e9 * 1024 * (cost.per_byte + cost.per_byte_of_port));
  member.links[static_cast<std::size_t>(member.probed)] = cost;
  member.probe.reset();
}

// An answer of the lost one does not come any more.
void Collectives::begin_probe_anew(Member& member, TaskId lost) {
  if (!member.probe || member.probed_task != lost) return;
  member.probe.reset();
  try_to_welcome(member);
}

CostModel Collectives::costs_of(const Member& member) const {
  if (member.group->costs_by_program()) return *member.group->costs_by_program();
  CostModel costs;
  if (member.links[0]) costs.host = *member.links[0];
  if (member.links[1]) costs.network = *member.links[1];
  return costs;
}

}  // namespace actorflow
