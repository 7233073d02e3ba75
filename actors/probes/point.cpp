#include "actors/probes/point.h"

#include <utility>

namespace actorflow {
namespace {

Point* newest = nullptr;  // changes before main() only

}  // namespace

Point::Point(const char* name) : name_(name), next_(std::exchange(newest, this)) {}

std::map<std::string, std::uint64_t> Point::take_all() {
  std::map<std::string, std::uint64_t> hits;
  for (Point* point = newest; point; point = point->next_)
    hits[point->name_] += point->hits_.exchange(0);
  return hits;
}

}  // namespace actorflow
