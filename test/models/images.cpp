// Images: how they are augmented, whitening filters, the net that begins with them, and recipes.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "actors/models/classifiers.h"
#include "actors/models/images/augmentation.h"
#include "actors/models/images/fast_net.h"
#include "actors/models/images/recipe.h"
#include "actors/models/images/whitening.h"
#include "test/models/support/toy_data.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(images)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Pixels = std::vector<std::uint8_t>;

Tensor images_of(std::int64_t count, std::int64_t height, std::int64_t width, const Pixels& pixels) {
  return Tensor::of<std::uint8_t>({count, height, width, 1}, pixels);
}

// Images, and their numbers from 0 on.
Dataset numbered(const Tensor& images) {
  Tensor numbers = Tensor::allocate(DType::int64, {images.shape()[0]});
  const auto all = numbers.mutable_values<std::int64_t>();
  std::iota(all.begin(), all.end(), 0);
  return Dataset::tensors({images, numbers});
}

// All pixels of the images that a pass gives.
Pixels pass_of(const Dataset& dataset, std::int64_t pass, std::int64_t first = 0) {
  const StageRef stage = dataset.open({&posix_storage(), nullptr});
  stage->restart(pass);
  stage->skip(first);
  Pixels all;
  for (Tuple element; stage->next(element);) {
    BOOST_TEST(element.size() == 1U);
    const auto pixels = element[0].values<std::uint8_t>();
    all.insert(all.end(), pixels.begin(), pixels.end());
  }
  return all;
}

// The different results for one image over many passes.
std::set<Pixels> results(const Tensor& image, const ImageAugmentation& how) {
  std::set<Pixels> all;
  for (std::int64_t pass = 0; pass < 200; ++pass)
    all.insert(pass_of(augmented(numbered(image), how), pass));
  return all;
}

// 1 where the image is bright on the left, 0 where it is bright at the top: mirrored they stay what they
// are.
std::pair<Tensor, Tensor> bright_sides(std::int64_t count) {
  std::mt19937 random(1);
  Tensor x = Tensor::allocate(DType::float32, {count, 9, 9, 1}),
         y = Tensor::allocate(DType::int64, {count});
  for (std::int64_t i = 0; i < count; ++i) {
    y.mutable_values<std::int64_t>()[static_cast<std::size_t>(i)] = i % 2;
    for (std::int64_t pixel = 0; pixel < 81; ++pixel) {
      const std::int64_t column = pixel % 9;
      const bool bright = i % 2 == 0 ? pixel / 9 < 3 : column < 2 || column > 6;
      x.mutable_values<float>()[static_cast<std::size_t>(81 * i + pixel)] =
          (bright ? 0.5F : 0.F) + 0.5F * static_cast<float>(random() % 1000) / 1000;
    }
  }
  return {x, y};
}

}  // namespace

BOOST_AUTO_TEST_CASE(images_that_nothing_is_done_to_stay_as_they_are) {
  const Pixels pixels{1, 2, 3, 4, 5, 6, 7, 8};
  BOOST_TEST(pass_of(augmented(numbered(images_of(2, 2, 2, pixels)), {}), 3) == pixels);
}

BOOST_AUTO_TEST_CASE(two_passes_by_turns_show_each_image_both_ways) {
  Pixels pixels;
  for (std::uint8_t i = 0; i < 100; ++i) pixels.insert(pixels.end(), {i, 200});
  const Dataset turns =
      augmented(numbered(images_of(100, 1, 2, pixels)), {.mirroring = Mirroring::by_turns});
  const Pixels first = pass_of(turns, 0), second = pass_of(turns, 1);
  std::int64_t mirrored = 0;
  for (std::size_t i = 0; i < 200; i += 2) {
    BOOST_TEST(first[i] != second[i]);
    mirrored += first[i] == 200;
  }
  BOOST_TEST((mirrored > 30 && mirrored < 70));
  BOOST_TEST(pass_of(turns, 2) == first);
}

BOOST_AUTO_TEST_CASE(images_are_mirrored_at_random_in_each_pass) {
  const auto found = results(images_of(1, 1, 2, {1, 2}), {.mirroring = Mirroring::random});
  BOOST_TEST((found == std::set<Pixels>{{1, 2}, {2, 1}}));
}

BOOST_AUTO_TEST_CASE(parts_are_cut_from_a_padded_image) {
  const auto zeros = results(images_of(1, 1, 3, {1, 2, 3}), {.padding = 1});
  BOOST_TEST((zeros == std::set<Pixels>{{0, 0, 0}, {0, 1, 2}, {1, 2, 3}, {2, 3, 0}}));
  const auto reflected =
      results(images_of(1, 3, 2, {1, 2, 3, 4, 5, 6}), {.padding = 1, .border = Border::reflected});
  BOOST_TEST(reflected.size() == 6U);  // of two columns, both ways to the side are the same
  BOOST_TEST(reflected.contains({3, 4, 1, 2, 3, 4}));  // up
  BOOST_TEST(reflected.contains({2, 1, 4, 3, 6, 5}));  // to the side, either way
  BOOST_TEST(reflected.contains({4, 3, 6, 5, 4, 3}));  // down and to the side
}

BOOST_AUTO_TEST_CASE(what_becomes_of_an_image_depends_on_seed_pass_and_number) {
  Pixels pixels(100 * 5);
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
  const ImageAugmentation how{.padding = 2, .mirroring = Mirroring::random, .seed = 5};
  const Dataset dataset = augmented(numbered(images_of(100, 1, 5, pixels)), how);
  const Pixels all = pass_of(dataset, 1);
  BOOST_TEST(pass_of(dataset, 1, 40) == Pixels(all.begin() + 200, all.end()));
  BOOST_TEST(pass_of(dataset, 2) != all);
  ImageAugmentation other = how;
  other.seed = 6;
  BOOST_TEST(pass_of(augmented(numbered(images_of(100, 1, 5, pixels)), other), 1) != all);
}

BOOST_AUTO_TEST_CASE(elements_that_are_no_numbered_images_are_refused) {
  BOOST_CHECK_EXCEPTION(augmented(numbered(images_of(1, 1, 1, {1})), {.padding = -1}), Error,
                        says("padding of 0 or more"));
  const Dataset no_number = Dataset::tensors({images_of(1, 1, 2, {1, 2})});
  BOOST_CHECK_EXCEPTION(pass_of(augmented(no_number, {}), 0), Error, says("at the end its number"));
  const Dataset empty = numbered(images_of(1, 0, 2, {}));
  BOOST_CHECK_EXCEPTION(pass_of(augmented(empty, {}), 0), Error, says("expected an image"));
  const Dataset small = numbered(images_of(1, 1, 2, {1, 2}));
  BOOST_CHECK_EXCEPTION(pass_of(augmented(small, {.padding = 1, .border = Border::reflected}), 0), Error,
                        says("cannot be reflected over 1 pixels"));
}

BOOST_AUTO_TEST_CASE(each_pass_has_every_image_with_its_label_once) {
  Pixels bytes(50);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const Tensor labels = Tensor::of<std::uint8_t>({50}, bytes);
  const Dataset dataset = augmented_images(images_of(50, 1, 1, bytes), labels, {});
  const Tuple first = read_all(dataset, {&posix_storage(), nullptr});
  BOOST_TEST(first[0].describe() == "float32[50,1,1,1]");
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < 50; ++i) {
    const std::int64_t label = first[1].values<std::int64_t>()[i];
    BOOST_TEST(first[0].values<float>()[i] == static_cast<float>(label) * (1.0F / 255));
    seen.insert(label);
  }
  BOOST_TEST(seen.size() == 50U);
  const Tuple two = read_all(dataset.repeat(2).skip(50), {&posix_storage(), nullptr});
  BOOST_TEST(!identical(two[1], first[1]));
}

// Neighbouring pixels of these images are alike; their images under the filters are not.
BOOST_AUTO_TEST_CASE(whitening_filters_make_pixels_independent) {
  std::mt19937 random(2);
  const auto uniform = [&] { return static_cast<float>(random() % 10000) / 10000; };
  Tensor images = Tensor::allocate(DType::float32, {500, 4, 1, 2});
  const auto pixels = images.mutable_values<float>();
  for (std::size_t i = 0; i < pixels.size(); i += 8) {
    const float common = uniform();
    for (std::size_t j = 0; j < 8; ++j) pixels[i + j] = 0.7F * common + 0.3F * uniform();
  }
  BOOST_CHECK_EXCEPTION(whitening_filters(images), Error, says("a window"));
  const Tensor tall = images.reshaped({500, 2, 2, 2});
  const Tensor filters = whitening_filters(tall);
  BOOST_TEST(filters.describe() == "float32[2,2,2,16]");
  const auto weights = filters.values<float>();
  std::vector<std::vector<double>> responses(16);
  for (std::size_t i = 0; i < pixels.size(); i += 8)
    for (std::size_t filter = 0; filter < 16; ++filter) {
      double sum = 0;
      for (std::size_t j = 0; j < 8; ++j) sum += (pixels[i + j] * 4.0 - 2) * weights[j * 16 + filter];
      responses[filter].push_back(sum);
    }
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t b = 0; b < 16; ++b) {
      const double product =
          std::inner_product(responses[a].begin(), responses[a].end(), responses[b].begin(), 0.0) / 500;
      const double expected = a == b ? 1 : a + 8 == b ? -1 : 0;
      BOOST_TEST(std::abs(product - expected) < 0.02);
    }
}

BOOST_AUTO_TEST_CASE(the_fast_net_learns_and_leaves_its_whitening_alone) {
  const auto [x, y] = bright_sides(64);
  const Tensor whitening = whitening_filters(x);
  Model model(fast_net(whitening, {.image = {9, 9, 1}, .classes = 2, .channels = {8, 8, 8}}));
  ImageRecipe recipe = fast_net_recipe();
  recipe.epochs = 8;
  recipe.batch_size = 16;
  CompileOptions options = compile_options(recipe, recipe.steps(64));
  options.metrics = {accuracy()};
  model.compile(options);
  model.fit(augmented_images(x, y, recipe.augmentation),
            quiet({.epochs = 1, .batch_size = 16, .steps_per_epoch = recipe.steps(64)}));
  BOOST_TEST(model.evaluate({x, y}).at("accuracy") > 0.9);
  BOOST_TEST(identical(model.weights().at("whitening/filters"), whitening));
}

BOOST_AUTO_TEST_CASE(an_image_and_its_mirror_image_are_predicted_alike) {
  const auto [x, y] = bright_sides(3);
  Tensor mirrored = Tensor::allocate(DType::float32, x.shape());
  for (std::int64_t i = 0; i < x.elements(); ++i)
    mirrored.mutable_values<float>()[static_cast<std::size_t>(i)] =
        x.values<float>()[static_cast<std::size_t>(i / 9 * 9 + 8 - i % 9)];
  for (const bool both : {true, false}) {
    Model model(
        fast_net(whitening_filters(x),
                 {.image = {9, 9, 1}, .classes = 2, .channels = {8, 8, 8}, .views = both ? 2 : 1}));
    const Tensor a = model.predict(x), b = model.predict(mirrored);
    float most = 0;
    for (std::size_t i = 0; i < 6; ++i)
      most = std::max(most, std::abs(a.values<float>()[i] - b.values<float>()[i]));
    BOOST_TEST((most < 1e-5F) == both);
  }
}

// Moved images are made here pixel by pixel, and each is predicted on its own.
BOOST_AUTO_TEST_CASE(moved_images_count_half_in_a_prediction) {
  const auto [x, y] = bright_sides(3);
  const auto moved = [&images = x](std::int64_t by) {
    Tensor result = Tensor::allocate(DType::float32, images.shape());
    const auto from = [&](std::int64_t place) { return 8 - std::abs(8 - std::abs(place + by)); };
    for (std::int64_t i = 0; i < images.elements(); ++i)
      result.mutable_values<float>()[static_cast<std::size_t>(i)] =
          images.values<float>()[static_cast<std::size_t>(i / 81 * 81 + from(i / 9 % 9) * 9 +
                                                          from(i % 9))];
    return result;
  };
  FastNetOptions options{.image = {9, 9, 1}, .classes = 2, .channels = {8, 8, 8}};
  Model model(fast_net(whitening_filters(x), options));
  options.views = 2;
  Model mirrored(fast_net(whitening_filters(x), options));
  const Tensor all = model.predict(x), still = mirrored.predict(x), up = mirrored.predict(moved(1)),
               down = mirrored.predict(moved(-1));
  BOOST_TEST(!identical(still, up));
  for (std::size_t i = 0; i < 6; ++i) {
    const float expected =
        still.values<float>()[i] / 2 + (up.values<float>()[i] + down.values<float>()[i]) / 4;
    BOOST_TEST(std::abs(all.values<float>()[i] - expected) < 1e-5F);
  }
  options.views = 3;
  BOOST_CHECK_EXCEPTION(fast_net(whitening_filters(x), options), Error, says("1, 2 or 6 views"));
}

BOOST_AUTO_TEST_CASE(rates_follow_their_course) {
  Graph graph;
  const Output step = graph.placeholder(DType::int64, {}, "step");
  const Output fast = rate_of_course(2, fast_net_recipe().course, step, 100);
  const Output resnet = rate_of_course(0.1, resnet20_recipe().course, step, 64000);
  Session session(graph);
  const auto at = [&](Output rate, std::int64_t number) {
    return session.run(rate, {{step, Tensor::scalar(number)}}).scalar<double>();
  };
  const auto tolerance = boost::test_tools::tolerance(1e-9);
  for (const auto& [number, expected] :
       std::map<std::int64_t, double>{{0, 0.4}, {23, 2}, {100, 0.14}, {200, 0.14}})
    BOOST_TEST(at(fast, number) == expected, tolerance);
  for (const auto& [number, expected] : std::map<std::int64_t, double>{
           {0, 0.1}, {31999, 0.1}, {32000, 0.01}, {47999, 0.01}, {48000, 0.001}, {63999, 0.001}})
    BOOST_TEST(at(resnet, number) == expected, tolerance);
  BOOST_CHECK_EXCEPTION(rate_of_course(1, {{0, 1}, {0.5, 1}}, step, 1), Error, says("from 0 to 1"));
  BOOST_CHECK_EXCEPTION(rate_of_course(1, {{0, 1}, {1, 1}}, step, 0), Error, says("1 step or more"));
}

BOOST_AUTO_TEST_CASE(recipes_count_their_steps) {
  BOOST_TEST(resnet20_recipe().steps(50000) == 64000);
  BOOST_TEST(ImageRecipe{.epochs = 0.001}.steps(50) == 1);
  BOOST_CHECK_EXCEPTION(ImageRecipe{.batch_size = 0}.steps(50), Error, says("batch size of 1"));
}

BOOST_AUTO_TEST_CASE(a_recipe_has_its_precision) {
  BOOST_TEST((compile_options(fast_net_recipe(), 10).precision == Precision::bf16));
  BOOST_TEST((compile_options(resnet20_recipe(), 10).precision == Precision::tf32));
}

// He et al. 2016, section 4.2; the course of its rate is above.
BOOST_AUTO_TEST_CASE(resnet20_is_trained_as_its_authors_say) {
  const ImageRecipe recipe = resnet20_recipe();
  BOOST_TEST(recipe.batch_size == 128);
  BOOST_TEST(recipe.learning_rate == 0.1);
  BOOST_TEST(recipe.momentum == 0.9);
  BOOST_TEST(!recipe.nesterov);
  BOOST_TEST(recipe.weight_decay == 1e-4);
  BOOST_TEST(recipe.label_smoothing == 0);
  BOOST_TEST(recipe.augmentation.padding == 4);
  BOOST_TEST((recipe.augmentation.border == Border::zeros));
  BOOST_TEST((recipe.augmentation.mirroring == Mirroring::random));
}

BOOST_AUTO_TEST_CASE(resnet20_pays_for_its_weights) {
  const Tensor x = Tensor::zeros(DType::float32, {2, 8, 8, 1}), y = Tensor::zeros(DType::int64, {2});
  const auto loss = [&](const Regularizer& regularizer, double* squares) {
    Model model(resnet20({8, 8, 1}, 2, regularizer));
    model.compile({.loss = softmax_cross_entropy()});
    const double result = model.evaluate({x, y}).at("loss");
    for (const auto& [name, value] : model.weights())
      if (squares && name.ends_with("weights"))
        for (const float weight : value.values<float>()) *squares += weight * weight;
    return result;
  };
  double squares = 0;
  const double with = loss(l2(0.01), &squares), without = loss({}, nullptr);
  BOOST_TEST(with - without == 0.01 * squares, boost::test_tools::tolerance(1e-4));
}

BOOST_AUTO_TEST_SUITE_END()
