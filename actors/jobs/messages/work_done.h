// What attempts of a stage's parts have done, in numbers.
#pragma once

#include <cstdint>

namespace actorflow {

// `Number`: std::uint64_t, or an atomic of it.
template <class Number>
struct WorkDone {
  Number bytes_read{0}, records_read{0};
  Number bytes_shuffled{0};  // handed over to later stages
  // Bytes that were put aside in sorted runs on disk, by parts whose memory was too small; and bytes of
  // these runs that were read again to merge them, each at least once.
  Number bytes_put_aside{0}, bytes_merged{0};
};

// Calls f(number of a, number of b) for each of the numbers.
template <class A, class B, class F>
void for_each_number(WorkDone<A>& all, const WorkDone<B>& some, const F& f) {
  f(all.bytes_read, some.bytes_read);
  f(all.records_read, some.records_read);
  f(all.bytes_shuffled, some.bytes_shuffled);
  f(all.bytes_put_aside, some.bytes_put_aside);
  f(all.bytes_merged, some.bytes_merged);
}

template <class A, class B>
void operator+=(WorkDone<A>& all, const WorkDone<B>& some) {
  for_each_number(all, some, [](auto& number, const auto& more) { number += more; });
}

template <class A, class B>
void operator-=(WorkDone<A>& all, const WorkDone<B>& some) {
  for_each_number(all, some, [](auto& number, const auto& less) { number -= less; });
}

}  // namespace actorflow
