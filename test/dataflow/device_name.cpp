#include <boost/test/unit_test.hpp>

#include "dataflow/cluster/device_name.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(device_name)

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(full_names_lead_back_to_their_text) {
  const std::string text = "/job:worker/replica:0/task:1/device:GPU:2";
  const auto name = DeviceName::parse(text);
  BOOST_TEST(*name.job == "worker");
  BOOST_TEST(*name.replica == 0);
  BOOST_TEST(*name.task == 1);
  BOOST_TEST(*name.type == "GPU");
  BOOST_TEST(*name.index == 2);
  BOOST_TEST(name.to_string() == text);
}

BOOST_AUTO_TEST_CASE(short_names_become_canonical) {
  BOOST_TEST(DeviceName::parse("/gpu:1").to_string() == "/device:GPU:1");
  BOOST_TEST(DeviceName::parse("/cpu").to_string() == "/device:CPU");
  BOOST_TEST(DeviceName::parse("/device:gpu:0").to_string() == "/device:GPU:0");
  BOOST_TEST(DeviceName::parse("/task:3/job:ps").to_string() == "/job:ps/task:3");
  BOOST_TEST(DeviceName::parse("").to_string() == "");
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_part) {
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/jb:ps"), Error,
                        invalid_with({"'/jb:ps'", "'jb:ps'", "expected"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/job:ps/task:x"), Error, invalid_with({"'task:x'"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/task:-1"), Error, invalid_with({"'task:-1'"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/task:99999999999"), Error, invalid_with({"task"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/task"), Error, invalid_with({"'task'"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/gpu:"), Error, invalid_with({"'gpu:'"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/device:"), Error, invalid_with({"'device:'"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/job:a b"), Error, invalid_with({"'job:a b'"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/job:ps//task:0"), Error, invalid_with({"''"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("/job:ps/job:worker"), Error, invalid_with({"second time"}));
  BOOST_CHECK_EXCEPTION(DeviceName::parse("gpu:0"), Error, invalid_with({"begins with '/'"}));
}

BOOST_AUTO_TEST_CASE(inner_fields_override_outer_ones) {
  const auto merge = [](const char* outer, const char* inner) {
    return DeviceName::merge(DeviceName::parse(outer), DeviceName::parse(inner)).to_string();
  };
  BOOST_TEST(merge("/job:ps/task:0", "/gpu:1") == "/job:ps/task:0/device:GPU:1");
  BOOST_TEST(merge("/job:ps/task:0", "/task:2") == "/job:ps/task:2");
  BOOST_TEST(merge("/gpu:1", "/gpu") == "/device:GPU:1");
}

BOOST_AUTO_TEST_CASE(an_index_does_not_pass_to_another_type) {
  const auto merged = DeviceName::merge(DeviceName::parse("/gpu:3"), DeviceName::parse("/cpu"));
  BOOST_TEST(merged.to_string() == "/device:CPU");
}

BOOST_AUTO_TEST_CASE(a_partial_name_matches_full_ones) {
  const auto full = DeviceName::parse("/job:worker/replica:0/task:1/device:GPU:2");
  for (const char* text :
       {"", "/job:worker", "/task:1/gpu:2", "/job:worker/replica:0/task:1/device:GPU:2"})
    BOOST_TEST(DeviceName::parse(text).matches(full), text);
  for (const char* text : {"/job:ps", "/task:0", "/cpu", "/gpu:0", "/replica:1"})
    BOOST_TEST(!DeviceName::parse(text).matches(full), text);
}

BOOST_AUTO_TEST_CASE(a_task_needs_job_and_index) {
  const auto task = TaskName::parse("/job:worker/replica:0/task:1/device:CPU:0");
  BOOST_TEST(task.to_string() == "/job:worker/task:1");
  BOOST_CHECK_EXCEPTION(TaskName::parse("/job:worker"), Error,
                        invalid_with({"'/job:worker'", "/task:N"}));
  BOOST_CHECK_EXCEPTION(TaskName::parse("/task:1"), Error, invalid_with({"'/task:1'"}));
}

BOOST_AUTO_TEST_SUITE_END()
