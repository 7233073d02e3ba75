// Feature columns: what they make of features. The numbers of TensorFlow are from
// tensorflow/columns.py.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "actors/estimator/columns/fingerprint.h"
#include "actors/estimator/features.h"
#include "actors/models/model.h"
#include "test/estimator/support/says_all.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Ids = CategoricalColumn::Ids;
using Numbers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

Tensor texts(const Texts& values) { return Tensor::of<std::string>({std::ssize(values)}, values); }
Tensor integers(const Numbers& values) { return Tensor::of<std::int64_t>({std::ssize(values)}, values); }

// The ids of examples that have one feature.
std::vector<Ids> ids(const CategoricalColumn& column, const std::vector<Tensor>& examples) {
  std::vector<Ids> all;
  for (const Tensor& feature : examples) all.push_back(column.ids(std::vector{feature}));
  return all;
}

void expect_ids(const CategoricalColumn& column, const std::vector<Tensor>& examples,
                const std::vector<Ids>& expected) {
  const auto actual = ids(column, examples);
  BOOST_TEST(actual == expected, boost::test_tools::per_element());
}

const std::vector<Tensor> towns{texts({"Bern"}), texts({"Genf"}), texts({"Bern"}), texts({""})};

// What input_layer() makes of the inputs that the columns want, in the order of their names.
std::vector<float> dense(const std::vector<FeatureColumn>& columns, const std::vector<Tensor>& inputs) {
  Features features;
  const SymbolicTensor layer = input_layer(features, columns);
  std::vector<SymbolicTensor> tensors;
  for (const ModelInput& input : features.inputs()) tensors.push_back(input.tensor);
  Model model(tensors, {layer});
  const auto values = model.predict(inputs)[0];
  return {values.values<float>().begin(), values.values<float>().end()};
}

void expect_dense(const std::vector<FeatureColumn>& columns, const std::vector<Tensor>& inputs,
                  const std::vector<float>& expected) {
  const auto actual = dense(columns, inputs);
  BOOST_TEST(actual == expected, boost::test_tools::per_element());
}

const NumericColumn age = numeric_column("age");
const auto town_list = categorical_column_with_vocabulary_list("town", Texts{"Bern", "Basel"});

}  // namespace

BOOST_TEST_DONT_PRINT_LOG_VALUE(Ids)

BOOST_AUTO_TEST_SUITE(columns)

BOOST_AUTO_TEST_CASE(fingerprints_are_those_of_tensorflow) {
  const std::vector<std::pair<std::size_t, std::uint64_t>> of_size{
      {0, 1936946117179621456},   {1, 3694432073954588132},   {3, 2640714258260161385},
      {4, 1897425971756105985},   {7, 4341691227789030229},   {8, 9145071594317031690},
      {15, 7529451393577069597},  {16, 6080716761534418621},  {17, 2171023947900359593},
      {24, 2103004859739410168},  {32, 934449955909727258},   {33, 8403347783973109260},
      {50, 6064205353438202416},  {64, 3646545258579766308},  {65, 3889391544646074892},
      {100, 1858196258524704914}, {128, 2056131915184924913}, {129, 4687628222062474711},
      {200, 3225094344678046759}};
  std::string letters;
  while (letters.size() < 200) letters += "abcdefghijklmnopqrstuvwxyz0123456789";
  for (const auto& [size, expected] : of_size)
    BOOST_TEST(fingerprint64(std::string_view(letters).substr(0, size)) %
                       std::numeric_limits<std::int64_t>::max() ==
                   expected,
               "of " << size << " letters");
}

BOOST_AUTO_TEST_CASE(hash_buckets_are_those_of_tensorflow) {
  expect_ids(categorical_column_with_hash_bucket("town", 10), towns, {{1}, {5}, {1}, {-1}});
  expect_ids(categorical_column_with_hash_bucket("n", 10), {integers({7, -1, 1000})}, {{8, -1, 3}});
}

BOOST_AUTO_TEST_CASE(a_vocabulary_gives_places_and_treats_others_as_it_is_told) {
  expect_ids(town_list, towns, {{0}, {-1}, {0}, {-1}});
  expect_ids(
      categorical_column_with_vocabulary_list("town", Texts{"Bern", "Basel"}, {.default_value = 1}),
      towns, {{0}, {1}, {0}, {-1}});
  const auto with_buckets =
      categorical_column_with_vocabulary_list("town", Texts{"Bern", "Basel"}, {.num_oov_buckets = 3});
  BOOST_TEST(with_buckets.num_buckets() == 5);
  expect_ids(with_buckets, {texts({"Bern", "Genf", "Chur", "Sion", ""})}, {{0, 4, 2, 2, -1}});
  expect_ids(categorical_column_with_vocabulary_list("n", Numbers{5, 7}, {.num_oov_buckets = 4}),
             {integers({7, -1, 1000, 12})}, {{1, -1, 3, 2}});
}

BOOST_AUTO_TEST_CASE(identities_are_themselves_or_the_default) {
  expect_ids(categorical_column_with_identity("n", 4, 3), {integers({0, 3, 9, -1})}, {{0, 3, 3, -1}});
  BOOST_CHECK_EXCEPTION(
      ids(categorical_column_with_identity("n", 4), {integers({9})}), Error,
      says_all({"the feature 'n': 9 is not one of the 4 categories", "default_value"}));
}

BOOST_AUTO_TEST_CASE(crosses_are_those_of_tensorflow) {
  const auto cross = [](const CategoricalColumn& column, const std::vector<Tensor>& features) {
    return column.ids(features);
  };
  const auto towns_and_sex = crossed_column({"town", "sex"}, 100);
  BOOST_TEST(towns_and_sex.name() == "sex_X_town");
  BOOST_TEST(cross(towns_and_sex, {texts({"Bern", "Genf"}), texts({"f"})}) == (Ids{52, 86}));
  BOOST_TEST(cross(towns_and_sex, {texts({"Bern", "Chur"}), texts({"m"})}) == (Ids{69, 79}));
  const auto sex_and_n = crossed_column({"sex", "n"}, 1000);
  BOOST_TEST(cross(sex_and_n, {texts({"f"}), integers({3})}) == Ids{683});
  BOOST_TEST(cross(sex_and_n, {texts({"m"}), integers({12})}) == Ids{91});
  // Columns come before features: the numbers, then the text.
  const auto sex_and_age = crossed_column({"sex", bucketized_column(age, {18, 65})}, 1000);
  BOOST_TEST(cross(sex_and_age, {Tensor{20.0F}, texts({"f"})}) == Ids{438});
  BOOST_TEST(cross(sex_and_age, {Tensor{70.0F}, texts({"m"})}) == Ids{209});
  const auto three = crossed_column({"sex", categorical_column_with_identity("n", 20), "town"}, 1000);
  BOOST_TEST(cross(three, {integers({3}), texts({"f"}), texts({"Bern", "Genf"})}) == (Ids{709, 689}));
  BOOST_TEST(cross(three, {integers({12}), texts({"m"}), texts({"Bern", "Chur"})}) == (Ids{709, 454}));
}

BOOST_AUTO_TEST_CASE(a_cross_with_a_missing_part_is_missing) {
  const auto column = crossed_column({"town", "sex"}, 100);
  BOOST_TEST(column.ids(std::vector{texts({"Bern", ""}), texts({"f"})}) == (Ids{52, -1}));
  BOOST_TEST(column.ids(std::vector{texts({"Bern"}), texts({""})}) == Ids{-1});
}

BOOST_AUTO_TEST_CASE(buckets_include_their_lower_boundary) {
  expect_dense({bucketized_column(age, {18, 65})},
               {Tensor::of<float>({6, 1}, {-1, 17.5, 18, 64.9F, 65, 100})},
               {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1});
  expect_dense({bucketized_column(numeric_column("x", {.size = 2}), {0, 10})},
               {Tensor::of<float>({2, 2}, {-1, 5, 10, 0})}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0});
}

BOOST_AUTO_TEST_CASE(buckets_are_the_same_in_the_model_and_in_a_cross) {
  const CategoricalColumn buckets = bucketized_column(age, {18, 65});
  BOOST_TEST(buckets.num_buckets() == 3);
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  expect_ids(buckets, {Tensor{17.5F}, Tensor{18.0F}, Tensor{65.0F}, Tensor{not_a_number}},
             {{0}, {1}, {2}, {0}});
  expect_dense({bucketized_column(age, {18, 65})}, {Tensor::of<float>({1, 1}, {not_a_number})},
               {1, 0, 0});
  const CategoricalColumn of_two = bucketized_column(numeric_column("x", {.size = 2}), {0, 10});
  expect_ids(of_two, {Tensor{10.0F, 0.0F}}, {{2, 4}});
}

BOOST_AUTO_TEST_CASE(an_indicator_counts_the_values_of_each_category) {
  expect_dense({indicator_column(town_list)}, {Tensor::of<std::int64_t>({3, 2}, {0, 0, 1, 0, -1, -1})},
               {2, 0, 1, 1, 0, 0});
}

BOOST_AUTO_TEST_CASE(an_embedding_joins_the_vectors_that_there_are) {
  const Initializer table = [](Graph& graph, const Shape&, std::uint64_t) {
    return graph.constant(Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 7}));
  };
  const auto embedded = [&](Combiner combiner) {
    return dense({embedding_column(categorical_column_with_identity("n", 3), 2, {combiner, table})},
                 {Tensor::of<std::int64_t>({3, 2}, {0, 2, 1, -1, -1, -1})});
  };
  BOOST_TEST(embedded(Combiner::mean) == (std::vector<float>{3, 4.5, 3, 4, 0, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(embedded(Combiner::sum) == (std::vector<float>{6, 9, 3, 4, 0, 0}),
             boost::test_tools::per_element());
  const auto root = embedded(Combiner::sqrtn);
  BOOST_TEST(std::abs(root[0] - 4.242640495300293F) < 1e-6F);
  BOOST_TEST(std::abs(root[1] - 6.3639607429504395F) < 1e-6F);
}

BOOST_AUTO_TEST_CASE(columns_lie_in_the_order_of_their_names) {
  const auto height =
      numeric_column("height", {.normalizer_fn = [](Output x) { return (x - 100.0) / 10.0; }});
  expect_dense({height, age}, {Tensor::of<float>({1, 1}, {30}), Tensor::of<float>({1, 1}, {180})},
               {30, 8});
}

BOOST_AUTO_TEST_CASE(settings_that_make_no_sense_are_refused) {
  const auto refused = [](const auto& make, const std::vector<std::string>& words) {
    BOOST_CHECK_EXCEPTION(make(), Error, says_all(words));
  };
  refused([] { bucketized_column(age, {}); }, {"bucketized_column of 'age'", "none"});
  refused([] { bucketized_column(age, {1, 3, 3}); }, {"'age'", "increase", "3 comes before 3"});
  refused([] { bucketized_column(age, {NAN}); }, {"finite", "nan"});
  refused(
      [] { bucketized_column(numeric_column("x", {.normalizer_fn = [](Output x) { return x; }}), {1}); },
      {"without normalizer_fn"});
  refused([] { numeric_column("x", {.size = 0}); }, {"'x'", "1 or more", "0"});
  refused([] { categorical_column_with_vocabulary_list("t", Texts{}); }, {"'t'", "none"});
  refused(
      [] {
        categorical_column_with_vocabulary_list("t", Texts{"a", "b", "a"});
      },
      {"'t'", "'a' twice"});
  refused(
      [] {
        categorical_column_with_vocabulary_list("t", Texts{"a", ""});
      },
      {"'t'", "missing value"});
  refused(
      [] {
        categorical_column_with_vocabulary_list("t", Texts{"a"},
                                                {.default_value = 0, .num_oov_buckets = 2});
      },
      {"default_value (0)", "num_oov_buckets (2)", "not both"});
  refused([] { categorical_column_with_vocabulary_list("t", Texts{"a"}, {.default_value = 1}); },
          {"from -1 to 0", "got 1"});
  refused([] { categorical_column_with_hash_bucket("t", 0); }, {"hash_bucket_size", "0"});
  refused([] { categorical_column_with_identity("n", 4, 4); }, {"from 0 to 3", "4"});
  refused([] { crossed_column({"a"}, 10); }, {"two or more", "1"});
  refused([] { crossed_column({"a", "b"}, 1); }, {"hash_bucket_size of 2", "1"});
  refused(
      [] {
        crossed_column({"a", categorical_column_with_hash_bucket("t", 5)}, 10);
      },
      {"'t' is hashed already"});
  refused([] { embedding_column(town_list, 0); }, {"'town'", "dimension", "0"});
}

BOOST_AUTO_TEST_CASE(features_of_another_type_are_refused_by_name) {
  BOOST_CHECK_EXCEPTION(ids(town_list, {integers({1})}), Error,
                        says_all({"the feature 'town'", "text", "int64[1]"}));
  BOOST_CHECK_EXCEPTION(ids(categorical_column_with_identity("n", 3), {texts({"a"})}), Error,
                        says_all({"the feature 'n'", "integers", "string[1]"}));
  BOOST_CHECK_EXCEPTION(ids(categorical_column_with_hash_bucket("x", 3), {Tensor{0.5F}}), Error,
                        says_all({"the feature 'x'", "text (string) or integers", "float32[1]"}));
  BOOST_CHECK_EXCEPTION(ids(crossed_column({"x", "x"}, 3), {Tensor{0.5F}, Tensor{0.5F}}), Error,
                        says_all({"the feature 'x'", "bucketized_column"}));
}

BOOST_AUTO_TEST_CASE(layers_of_columns_refuse_what_they_cannot_take) {
  Features features;
  BOOST_CHECK_EXCEPTION(input_layer(features, {}), Error, says_all({"input_layer", "none"}));
  BOOST_CHECK_EXCEPTION(input_layer(features, {age, age}), Error, says_all({"two columns", "'age'"}));
  BOOST_CHECK_EXCEPTION(dense({town_list}, {Tensor::of<std::int64_t>({1, 1}, {0})}), Error,
                        says_all({"'town' has categories", "embedding_column", "indicator_column"}));
  features.ids(town_list);
  BOOST_CHECK_EXCEPTION(features.ids(categorical_column_with_hash_bucket("town", 7)), Error,
                        says_all({"'town_ids' has two meanings", "vocabulary of 2", "hash of 7"}));
}

BOOST_AUTO_TEST_SUITE_END()
