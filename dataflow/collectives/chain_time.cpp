#include "dataflow/collectives/chain_time.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace actorflow {

ChainTime::ChainTime(const HostRuns& hosts, const CostModel& model, std::vector<Stop> stops)
    : hosts_(hosts),
      model_(model),
      stops_(std::move(stops)),
      passes_(std::ceil(static_cast<double>(hosts.runs.size()) / hosts.hosts)) {}

ChainTime ChainTime::of_ring(const HostRuns& hosts, const CostModel& model) {
  const LinkCost* between = hosts.hosts > 1 ? &model.network : &model.host;
  std::vector<Stop> stops;
  for (const int ranks : hosts.runs)
    for (int i = 0; i < ranks; ++i)
      stops.push_back({1, i == 0 ? between : &model.host, i + 1 == ranks ? between : &model.host});
  return ChainTime(hosts, model, std::move(stops));
}

ChainTime ChainTime::of_hosts(const HostRuns& hosts, const CostModel& model) {
  std::vector<Stop> stops;
  for (const int ranks : hosts.runs) stops.push_back({ranks, &model.network, &model.network});
  return ChainTime(hosts, model, std::move(stops));
}

// The last stop begins with the results, which end at the stop before it.
bool ChainTime::passes_results_on(std::size_t stop) const {
  return is_last(stop) ? stop > 0 : stop + 2 < stops_.size();
}

// Each end of a message bears a half of what it costs.
void ChainTime::pass_on(const Stop& stop, double bytes, int chunks, Load& load) const {
  load.processor += message_seconds(*stop.after, bytes) / 2;
  load.port += std::min(stop.owners, chunks) * passes_ * bytes * stop.after->per_byte_of_port;
}

ChainTime::Load ChainTime::sums_at(std::size_t stop, double bytes, int chunks) const {
  const Stop& here = stops_[stop];
  Load load{.processor = (here.owners - (stop == 0 ? 1 : 0)) * bytes * model_.per_added_byte};
  if (stop > 0) load.processor += message_seconds(*here.before, bytes) / 2;
  if (!is_last(stop)) pass_on(here, bytes, chunks, load);
  return load;
}

ChainTime::Load ChainTime::results_at(std::size_t stop, double bytes, int chunks) const {
  const Stop& here = stops_[stop];
  Load load{.processor = (here.owners - 1) * message_seconds(model_.host, bytes)};
  if (!is_last(stop)) load.processor += message_seconds(*here.before, bytes) / 2;
  if (passes_results_on(stop)) pass_on(here, bytes, chunks, load);
  return load;
}

double ChainTime::hop(const Stop& stop, double bytes) const {
  const LinkCost& link = *stop.after;
  return link.latency + message_seconds(link, bytes) + passes_ * bytes * link.per_byte_of_port;
}

// Until all chunks have passed this stop; `first`: what one takes to pass all stops twice. Where the
// results of the first chunks come back while the last sums have still to leave, it does both.
double ChainTime::flow(std::size_t stop, double first, const Chunk& chunk, int chunks) const {
  const double each = std::ceil(1.0 * chunks / stops_[stop].owners);
  const Load sums = sums_at(stop, chunk.unfinished, chunks),
             results = results_at(stop, chunk.complete, chunks);
  const double both = Load{sums.processor + results.processor, sums.port + results.port}.time();
  if (stops_.size() <= 2) return first + (each - 1) * both;
  return std::max(first + (each - 1) * std::max(sums.time(), results.time()), first / 2 + each * both);
}

// Each owner sends so many bytes to each other one.
double ChainTime::exchange(const Stop& stop, double bytes) const {
  if (stop.owners == 1) return 0;
  return model_.host.latency + (stop.owners - 1) * message_seconds(model_.host, bytes);
}

// What follows the last chunk. The last stop has the results before all others.
double ChainTime::rest(std::size_t stop, double bytes, int chunks) const {
  const Stop& here = stops_[stop];
  if (stops_.size() == 1) return exchange(here, bytes);
  // The first chunks of the owners have left one after the other.
  const double others_first =
      (std::min(here.owners, chunks) - 1) * passes_ * bytes * here.after->per_byte_of_port;
  return others_first + (is_last(stop) ? 0 : exchange(here, bytes));
}

double ChainTime::seconds(std::int64_t bytes, int chunks, double sum_growth) const {
  const double all = static_cast<double>(bytes);
  const Chunk chunk{all / chunks, sum_growth * all / chunks};
  double first = 0;
  for (std::size_t stop = 0; !is_last(stop); ++stop)
    first += hop(stops_[stop], chunk.unfinished) + hop(stops_[stop], chunk.complete);
  // A stop waits for the contributions of its ranks, and for a stop before that waits for those of its
  // own, where these take longer than the first sum's way.
  double way = 0, wait = 0, slowest = 0;
  for (std::size_t stop = 0; stop < stops_.size(); ++stop) {
    wait = std::max(wait, exchange(stops_[stop], all / stops_[stop].owners) - way);
    slowest =
        std::max(slowest, wait + flow(stop, first, chunk, chunks) + rest(stop, chunk.complete, chunks));
    way += hop(stops_[stop], chunk.unfinished);
  }
  return slowest + (hosts_.ranks - 1) * chunk.unfinished * model_.per_added_byte;
}

}  // namespace actorflow
