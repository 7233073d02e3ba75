// The buckets in which Histogram counts: TensorFlow's (core/lib/histogram), which grow by a tenth.
#pragma once

#include <cstdint>
#include <span>

namespace actorflow {

inline constexpr int histogram_positive_limits = 774;  // 1e-12 1.1^i below 1e20
// The number of buckets: their limits are these, their negatives, 0, and the largest and smallest
// float64.
inline constexpr int histogram_buckets = 2 * (histogram_positive_limits + 1) + 1;

// The elements of the statistics that Histogram returns.
enum class HistogramStatistic : std::uint8_t { min, max, count, sum, sum_of_squares, not_finite };
inline constexpr int histogram_statistics = 6;

// The upper ends of the buckets, ascending: bucket i counts limit[i - 1] <= x < limit[i].
std::span<const double> histogram_limits();

}  // namespace actorflow
