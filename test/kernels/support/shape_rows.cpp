#include "test/kernels/support/shape_rows.h"

#include "test/kernels/support/reference.h"

namespace actorflow::test {
namespace {

// [2,3] and [2,4] side by side.
Arrays concat_columns(const Arrays& in) {
  return {array_of({2, 7}, [&](const Index& i) {
    return i[1] < 3 ? at(in[0], i) : at(in[1], {i[0], i[1] - 3});
  })};
}

// The columns of [2,7] as [2,3] and [2,4].
Arrays split(const Arrays& in) {
  return {array_of({2, 3}, [&](const Index& i) { return at(in[0], i); }),
          array_of({2, 4}, [&](const Index& i) {
            return at(in[0], {i[0], i[1] + 3});
          })};
}

// One row of zeros before, two columns of them behind.
Arrays padded(const Arrays& in) {
  return {array_of({3, 5}, [&](const Index& i) {
    return i[0] >= 1 && i[1] < 3 ? at(in[0], {i[0] - 1, i[1]}) : 0.0;
  })};
}

}  // namespace

std::vector<OpRow> shape_rows() {
  const Input cube{f32, {2, 3, 4}}, matrix{f32, {2, 3}};
  const auto swap = [](const Index& i) { return Index{i[1], i[0]}; };
  const auto rotate = [](const Index& i) { return Index{i[1], i[2], i[0]}; };
  const auto middle = [](const Index& i) { return Index{i[0] + 1, i[1], i[2] + 1}; };
  return {
      {"Reshape", "", {cube}, {{"shape", Shape{4, -1}}}, with_shape({4, 6})},
      {"ReshapeLike", "", {cube, {f32, {6, 4}}}, {}, with_shape({6, 4})},
      {"ExpandDims", "", {matrix}, {{"axes", Ints{0, 2}}}, with_shape({1, 2, 1, 3})},
      {"Transpose", "", {matrix}, {{"permutation", Ints{1, 0}}}, rearranged({3, 2}, swap)},
      {"Transpose", "reversed", {matrix}, {{"permutation", Ints{}}}, rearranged({3, 2}, swap)},
      {"Transpose", "3 axes", {cube}, {{"permutation", Ints{2, 0, 1}}}, rearranged({4, 2, 3}, rotate)},
      {"Transpose",
       "whole rows",
       {{f32, {2, 3, 4, 8}}},
       {{"permutation", Ints{0, 2, 1, 3}}},
       rearranged({2, 4, 3, 8},
                  [](const Index& i) {
                    return Index{i[0], i[2], i[1], i[3]};
                  })},
      {"ShapeOf", "", {cube}, {}, always({{3}, {2, 3, 4}})},
      {"Slice",
       "",
       {cube},
       {{"begin", Ints{1, 0, 1}}, {"size", Ints{1, -1, 2}}},
       rearranged({1, 3, 2}, middle)},
      {"Slice",
       "packs of two",
       {{f32, {2, 3, 16}}},
       {{"begin", Ints{0, 1, 2}}, {"size", Ints{2, 2, 8}}},
       rearranged({2, 2, 8},
                  [](const Index& i) {
                    return Index{i[0], i[1] + 1, i[2] + 2};
                  })},
      {"Concat", "", {{f32, {2, 3}}, {f32, {2, 4}}}, {{"axis", std::int64_t{1}}}, concat_columns},
      {"ConcatGrad",
       "",
       {{f32, {2, 7}}, {f32, {2, 3}}, {f32, {2, 4}}},
       {{"axis", std::int64_t{1}}},
       split},
      {"Pad", "", {matrix}, {{"before", Ints{1, 0}}, {"after", Ints{0, 2}}}, padded},
      {"PadLike", "", {matrix, {f32, {3, 5}}}, {{"begin", Ints{1, 0}}}, padded},
      {"SliceLike",
       "",
       {cube, {f32, {1, 3, 2}}},
       {{"begin", Ints{1, 0, 1}}},
       rearranged({1, 3, 2}, middle)},
  };
}

}  // namespace actorflow::test
