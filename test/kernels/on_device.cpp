#include "kernels/devices/on_device.h"

#include <boost/test/unit_test.hpp>
#include <string>

BOOST_AUTO_TEST_SUITE(on_device)

using namespace actorflow;

namespace {

template <int count>
boost::test_tools::assertion_result has_gpus(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(cuda_device_count() >= count);
  result.message() << "GPUs here: " << cuda_device_count() << ", needed: " << count;
  return result;
}

Tensor numbers() { return Tensor::of<float>({3}, {1, 2, 3}); }

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_on_the_host_stays_there_for_a_cpu) {
  const Tensor tensor = numbers();
  BOOST_TEST(actorflow::on_device(tensor, cpu_device()).data() == tensor.data());
}

BOOST_AUTO_TEST_CASE(from_one_gpu_to_another, *boost::unit_test::precondition(has_gpus<2>)) {
  const Tensor first = actorflow::on_device(numbers(), cuda_device(0));
  BOOST_TEST(actorflow::on_device(first, cuda_device(0)).data() == first.data());
  const Tensor second = actorflow::on_device(first, cuda_device(1));
  BOOST_TEST(&second.buffer()->owner() == &cuda_device(1).allocator());
  const Tensor back = actorflow::on_device(second, cpu_device());
  BOOST_TEST(back.values<float>() == numbers().values<float>(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(text_stays_on_the_host, *boost::unit_test::precondition(has_gpus<1>)) {
  const Tensor text = Tensor::of<std::string>({1}, {"a"});
  BOOST_TEST(actorflow::on_device(text, cuda_device(0)).on_host());
}

BOOST_AUTO_TEST_SUITE_END()
