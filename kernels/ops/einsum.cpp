// einsum(): an equation is read into labels, and each product of two operands is lowered to a batched
// product of matrices, or, where nothing or everything is summed, to an elementwise product.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

// A label is a letter; those of an ellipsis, counted from the right, are the numbers from -1 down.
using Label = int;
using Labels = std::vector<Label>;
using List = std::vector<std::int64_t>;

bool contains(const Labels& labels, Label label) { return std::ranges::count(labels, label) > 0; }

// A tensor and the label of each of its axes.
struct Term {
  Output tensor;
  Labels labels;

  int axis_of(Label label) const {
    return static_cast<int>(std::ranges::find(labels, label) - labels.begin());
  }
};

Labels joined(Labels a, const Labels& b, const Labels& c = {}) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

Labels filtered(const Labels& labels, const auto& wanted) {
  Labels result;
  std::ranges::copy_if(labels, std::back_inserter(result), wanted);
  return result;
}

// The same tensor with its axes in the order of `order`, a permutation of its labels.
Term ordered(const Term& term, const Labels& order) {
  if (order == term.labels) return term;
  List permutation;
  for (const Label label : order) permutation.push_back(term.axis_of(label));
  return {transpose(term.tensor, permutation), order};
}

Term summed(const Term& term, const Labels& gone) {
  if (gone.empty()) return term;
  List axes;
  for (const Label label : gone) axes.push_back(term.axis_of(label));
  return {sum(term.tensor, axes), filtered(term.labels, [&](Label l) { return !contains(gone, l); })};
}

// With axes of 1 for the labels that it lacks, in the order of `all`.
Output spread(const Term& term, const Labels& all) {
  const Term own = ordered(term, filtered(all, [&](Label l) { return contains(term.labels, l); }));
  List missing;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!contains(term.labels, all[i])) missing.push_back(static_cast<std::int64_t>(i));
  return missing.empty() ? own.tensor : expand_dims(own.tensor, missing);
}

class Einsum {
 public:
  Einsum(std::string_view equation, const std::vector<Output>& operands) : equation_(equation) {
    std::string text;
    std::ranges::copy_if(equation, std::back_inserter(text), [](char c) { return c != ' '; });
    const auto arrow = text.find("->");
    read_inputs(text.substr(0, arrow), operands);
    result_ = arrow == text.npos ? implied_result() : labels_of(text.substr(arrow + 2), ellipsis_);
    check_result();
  }

  Output compute() const {
    Term term = terms_[0];
    if (terms_.size() == 1) term = summed(term, not_wanted(term.labels, 1));
    for (std::size_t next = 1; next < terms_.size(); ++next)
      term = product(term, terms_[next], next + 1);
    return ordered(term, result_).tensor;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw invalid_argument("einsum '" + equation_ + "': " + what);
  }

  void read_inputs(const std::string& text, const std::vector<Output>& operands) {
    std::vector<std::string> parts(1);
    for (const char c : text)
      if (c == ',')
        parts.emplace_back();
      else
        parts.back() += c;
    if (parts.size() != operands.size())
      fail("there are labels for " + std::to_string(parts.size()) + " operands, but " +
           std::to_string(operands.size()) + " were given");
    for (std::size_t i = 0; i < parts.size(); ++i) read_operand(parts[i], operands[i], i);
  }

  void read_operand(const std::string& text, const Output& operand, std::size_t number) {
    const std::string who = "operand " + std::to_string(number) + ", ";
    if (!operand.shape().has_rank()) fail(who + "'" + operand.name() + "', has no known rank");
    const int named = static_cast<int>(std::ranges::count_if(text, [](char c) { return c != '.'; }));
    const int rank = operand.shape().rank(), open = rank - named;
    if (text.find("...") == text.npos ? open != 0 : open < 0)
      fail(who + operand.type().to_string() + ", has labels for " + std::to_string(named) + " axes");
    ellipsis_ = std::max(ellipsis_, open);
    Term term{operand, labels_of(text, open)};
    for (int axis = 0; axis < rank; ++axis) note_length(term, axis, who);
    terms_.push_back(std::move(term));
  }

  // `open`: how many axes an ellipsis stands for.
  Labels labels_of(const std::string& text, int open) const {
    Labels labels;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 3, "...") == 0) {
        for (int left = open; left > 0; --left) labels.push_back(-left);
        i += 2;
        continue;
      }
      if (!std::isalpha(static_cast<unsigned char>(text[i])))
        fail("expected letters, ',', '->' and '...', got '" + std::string(1, text[i]) + "'");
      if (contains(labels, text[i]))
        fail("the label '" + std::string(1, text[i]) + "' is twice in one term, which is not supported");
      labels.push_back(text[i]);
    }
    return labels;
  }

  // Axes of one label have one length; those of an ellipsis may also be 1.
  void note_length(const Term& term, int axis, const std::string& who) {
    const Label label = term.labels[static_cast<std::size_t>(axis)];
    const auto length = term.tensor.shape()[axis];
    auto& known = lengths_.try_emplace(label, Shape::unknown).first->second;
    if (length == Shape::unknown || (label < 0 && length == 1)) return;
    if (known != Shape::unknown && known != length)
      fail(who + term.tensor.type().to_string() + ": axis " + std::to_string(axis) +
           " must have the length " + std::to_string(known) + " of its label elsewhere");
    known = length;
  }

  Labels implied_result() const {
    std::map<Label, int> count;
    for (const auto& term : terms_)
      for (const Label label : term.labels) ++count[label];
    Labels labels;
    for (const auto& [label, times] : count)
      if (label < 0 || times == 1) labels.push_back(label);
    return labels;
  }

  void check_result() const {
    for (const Label label : result_)
      if (std::ranges::none_of(terms_, [&](const Term& term) { return contains(term.labels, label); }))
        fail("the result has a label that no operand has");
  }

  // Those that neither the result nor an operand from `next` on has.
  Labels not_wanted(const Labels& labels, std::size_t next) const {
    return filtered(labels, [&](Label label) {
      bool wanted = contains(result_, label);
      for (auto i = next; i < terms_.size(); ++i) wanted = wanted || contains(terms_[i].labels, label);
      return !wanted;
    });
  }

  Term product(const Term& left, const Term& right, std::size_t next) const {
    const auto in = [](const Labels& other, bool there) {
      return [&other, there](Label label) { return contains(other, label) == there; };
    };
    const auto alone = [&](const Term& term, const Term& other) {
      return filtered(not_wanted(term.labels, next), in(other.labels, false));
    };
    const Term a = summed(left, alone(left, right)), b = summed(right, alone(right, left));
    const Labels shared = filtered(a.labels, in(b.labels, true)), contracted = not_wanted(shared, next);
    const Labels batch = filtered(shared, in(contracted, false));
    const Labels rows = filtered(a.labels, in(shared, false)),
                 columns = filtered(b.labels, in(shared, false));
    const bool is_matrix = !rows.empty() || !columns.empty();
    if (contracted.empty() || !is_matrix || !is_floating(a.tensor.dtype()))
      return elementwise(a, b, joined(batch, rows, columns), contracted);
    return of_matrices(a, b, {batch, rows, columns, contracted});
  }

  static Term elementwise(const Term& a, const Term& b, const Labels& kept, const Labels& contracted) {
    const Labels all = joined(kept, contracted);
    return summed({spread(a, all) * spread(b, all), all}, contracted);
  }

  struct Groups {
    Labels batch, rows, columns, contracted;
  };

  // [batch..., rows, contracted] times [batch..., contracted, columns].
  Term of_matrices(const Term& a, const Term& b, const Groups& g) const {
    const Output left =
        grouped(ordered(a, joined(g.batch, g.rows, g.contracted)), g.batch.size(), g.rows.size());
    const Output right = grouped(ordered(b, joined(g.batch, g.contracted, g.columns)), g.batch.size(),
                                 g.contracted.size());
    const Output result = batch_matmul(left, right);
    return {ungrouped(result, a, b, g), joined(g.batch, g.rows, g.columns)};
  }

  Output reshaped(const Output& x, const Shape& shape) const {
    if (std::ranges::count(shape.dims(), Shape::unknown) > 1)
      fail("it joins axes, for which at most one axis of " + x.type().to_string() +
           " may have an unknown length");
    return reshape(x, shape);
  }

  // With one axis each for the first `count` behind the batch and for the rest.
  Output grouped(const Term& term, std::size_t batch, std::size_t count) const {
    const Shape& shape = term.tensor.shape();
    const auto rest = term.labels.size() - batch - count;
    if (count == 1 && rest == 1) return term.tensor;
    Shape wanted;
    std::int64_t sizes[2] = {1, 1};
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      const auto dim = shape[static_cast<int>(i)];
      if (i < batch) {
        wanted.push_back(dim);
        continue;
      }
      auto& size = sizes[i < batch + count ? 0 : 1];
      size = dim == Shape::unknown || size == Shape::unknown ? Shape::unknown : size * dim;
    }
    wanted.push_back(sizes[0]);
    wanted.push_back(sizes[1]);
    return reshaped(term.tensor, wanted);
  }

  Output ungrouped(Output product, const Term& a, const Term& b, const Groups& g) const {
    if (g.rows.size() == 1 && g.columns.size() == 1) return product;
    Shape wanted;
    for (std::size_t i = 0; i < g.batch.size(); ++i)
      wanted.push_back(product.shape()[static_cast<int>(i)]);
    for (const Label label : g.rows) wanted.push_back(a.tensor.shape()[a.axis_of(label)]);
    for (const Label label : g.columns) wanted.push_back(b.tensor.shape()[b.axis_of(label)]);
    return reshaped(product, wanted);
  }

  std::string equation_;
  std::vector<Term> terms_;
  Labels result_;
  std::map<Label, std::int64_t> lengths_;
  int ellipsis_ = 0;
};

}  // namespace

Output einsum(std::string_view equation, const std::vector<Output>& operands) {
  return Einsum(equation, operands).compute();
}

}  // namespace actorflow
