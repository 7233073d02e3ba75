#include "test/kernels/support/attention_rows.h"

#include <cmath>

#include "test/kernels/support/reference.h"

namespace actorflow::test {
namespace {

// The sum over the width of a row of a times one of b, of two heads' rows.
double dot(const Array& a, const Index& of_a, const Array& b, const Index& of_b) {
  double sum = 0;
  for (std::int64_t c = 0; c < a.shape[3]; ++c)
    sum += at(a, {of_a[0], of_a[1], of_a[2], c}) * at(b, {of_b[0], of_b[1], of_b[2], c});
  return sum;
}

// What a query gives a key by: the score, or minus infinity where it does not look.
double score(const Array& query, const Array& key, const Index& row, std::int64_t j, bool causal) {
  if (causal && j > row[1]) return -INFINITY;
  return dot(query, row, key, {row[0], j, row[2]}) / std::sqrt(static_cast<double>(query.shape[3]));
}

Reference attention(bool causal) {
  return [=](const Arrays& in) {
    const Array &query = in[0], &key = in[1], &value = in[2];
    const std::int64_t keys = key.shape[1];
    const Array logarithms =
        array_of({query.shape[0], query.shape[1], query.shape[2]}, [&](const Index& row) {
          double sum = 0;
          for (std::int64_t j = 0; j < keys; ++j) sum += std::exp(score(query, key, row, j, causal));
          return std::log(sum);
        });
    const Array output = array_of(query.shape, [&](const Index& i) {
      const Index row(i.begin(), i.end() - 1);
      double sum = 0;
      for (std::int64_t j = 0; j < keys; ++j)
        sum += std::exp(score(query, key, row, j, causal) - at(logarithms, row)) *
               at(value, {i[0], j, i[2], i[3]});
      return sum;
    });
    return Arrays{output, logarithms};
  };
}

// Of inputs that need not belong together: any output, any logarithms and gradients of these.
Reference attention_grad(bool causal) {
  return [=](const Arrays& in) {
    const Array &g = in[0], &query = in[1], &key = in[2], &value = in[3], &output = in[4],
                &logarithms = in[5];
    const auto weight = [&](const Index& row, std::int64_t j) {
      return std::exp(score(query, key, row, j, causal) - at(logarithms, row));
    };
    // Of a product of query and key, before it is multiplied with the other one.
    const auto gradient = [&](const Index& row, std::int64_t j) {
      const double of_weight = dot(g, row, value, {row[0], j, row[2]}) - dot(g, row, output, row) +
                               (in.size() > 6 ? at(in[6], row) : 0);
      return weight(row, j) * of_weight / std::sqrt(static_cast<double>(query.shape[3]));
    };
    const auto over_queries = [&](const Index& i, const Array& of_query, const auto& factor) {
      double sum = 0;
      for (std::int64_t q = 0; q < query.shape[1]; ++q)
        sum += factor(Index{i[0], q, i[2]}, i[1]) * at(of_query, {i[0], q, i[2], i[3]});
      return sum;
    };
    return Arrays{array_of(query.shape,
                           [&](const Index& i) {
                             double sum = 0;
                             for (std::int64_t j = 0; j < key.shape[1]; ++j)
                               sum += gradient({i[0], i[1], i[2]}, j) * at(key, {i[0], j, i[2], i[3]});
                             return sum;
                           }),
                  array_of(key.shape, [&](const Index& i) { return over_queries(i, query, gradient); }),
                  array_of(key.shape, [&](const Index& i) { return over_queries(i, g, weight); })};
  };
}

// Sizes on both sides of the tiles' and blocks' borders.
struct Size {
  std::string_view covers;
  Shape query, key;
  bool causal;
};

const std::vector<Size>& sizes() {
  static const std::vector<Size> all{
      {"", {2, 3, 2, 5}, {2, 4, 2, 5}, false},
      {"causal", {2, 5, 2, 4}, {2, 5, 2, 4}, true},
      {"causal with fewer keys", {1, 6, 1, 3}, {1, 3, 1, 3}, true},
      {"several tiles", {1, 37, 2, 9}, {1, 70, 2, 9}, false},
      {"several causal tiles", {1, 67, 1, 8}, {1, 67, 1, 8}, true},
      {"wide heads", {1, 3, 1, 40}, {1, 2, 1, 40}, false},
      {"wider heads", {1, 3, 1, 100}, {1, 2, 1, 100}, false},
      {"several blocks on a CPU", {1, 67, 16, 1}, {1, 67, 16, 1}, true},
      {"no queries", {2, 0, 2, 5}, {2, 4, 2, 5}, false},
  };
  return all;
}

Input input(const Shape& shape) { return {DType::float32, shape, -1, 1}; }

}  // namespace

std::vector<OpRow> attention_rows() {
  std::vector<OpRow> rows;
  for (const Size& size : sizes()) {
    const Attrs attrs{{"causal", size.causal}};
    const Input query = input(size.query), key = input(size.key),
                row = input({size.query[0], size.query[1], size.query[2]});
    rows.push_back(
        {"DotProductAttention", size.covers, {query, key, key}, attrs, attention(size.causal), 4e-6});
    rows.push_back({"DotProductAttentionGrad",
                    size.covers,
                    {query, query, key, key, query, row},
                    attrs,
                    attention_grad(size.causal),
                    1e-5});
    if (size.covers.empty())
      rows.push_back({"DotProductAttentionGrad",
                      "with gradients of the logarithms",
                      {query, query, key, key, query, row, row},
                      attrs,
                      attention_grad(size.causal),
                      1e-5});
  }
  return rows;
}

}  // namespace actorflow::test
