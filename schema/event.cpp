#include "schema/event.h"

#include "dataflow/values/error.h"
#include "schema/event.pb.h"

namespace actorflow {
namespace {

void fill(events::Summary::Value& out, const ScalarSummary& scalar) {
  out.set_simple_value(static_cast<float>(scalar.value));
}

// A bucket is empty together with its empty neighbours: only the last limit of such a run is written.
void fill(events::Summary::Value& out, const HistogramSummary& histogram) {
  auto& histo = *out.mutable_histo();
  histo.set_min(histogram.min);
  histo.set_max(histogram.max);
  histo.set_num(histogram.count);
  histo.set_sum(histogram.sum);
  histo.set_sum_squares(histogram.sum_of_squares);
  for (std::size_t i = 0; i < histogram.buckets.size(); ++i) {
    const bool last = i + 1 == histogram.buckets.size();
    if (!last && histogram.buckets[i] == 0 && histogram.buckets[i + 1] == 0) continue;
    histo.add_bucket_limit(histogram.limits[i]);
    histo.add_bucket(histogram.buckets[i]);
  }
}

void fill(events::Summary::Value& out, const ImageSummary& image) {
  out.mutable_image()->set_height(image.height);
  out.mutable_image()->set_width(image.width);
  out.mutable_image()->set_colorspace(image.channels);
  out.mutable_image()->set_encoded_image_string(image.png);
}

void fill(events::Event& out, const Event::Version& version) { out.set_file_version(version.name); }
void fill(events::Event& out, const Event::GraphEvent& graph) { out.set_graph_def(graph.def); }
void fill(events::Event& out, const Event::SessionStart&) {
  out.mutable_session_log()->set_status(events::SessionLog::START);
}
void fill(events::Event& out, const std::vector<Summary>& summaries) {
  auto& written = *out.mutable_summary();
  for (const auto& summary : summaries) {
    auto& value = *written.add_value();
    value.set_tag(summary.tag);
    std::visit([&](const auto& kind) { fill(value, kind); }, summary.value);
  }
}

HistogramSummary read(const events::HistogramProto& histo) {
  return {histo.min(),
          histo.max(),
          histo.num(),
          histo.sum(),
          histo.sum_squares(),
          {histo.bucket_limit().begin(), histo.bucket_limit().end()},
          {histo.bucket().begin(), histo.bucket().end()}};
}

ImageSummary read(const events::Summary::Image& image) {
  return {image.height(), image.width(), image.colorspace(), image.encoded_image_string()};
}

std::vector<Summary> read(const events::Summary& written) {
  std::vector<Summary> summaries;
  for (const auto& value : written.value()) {
    if (value.has_simple_value())
      summaries.push_back({value.tag(), ScalarSummary{value.simple_value()}});
    else if (value.has_histo())
      summaries.push_back({value.tag(), read(value.histo())});
    else if (value.has_image())
      summaries.push_back({value.tag(), read(value.image())});
  }
  return summaries;
}

}  // namespace

std::vector<std::byte> encode_event(const Event& event) {
  events::Event out;
  out.set_wall_time(event.wall_time_s);
  out.set_step(event.step);
  std::visit([&](const auto& what) { fill(out, what); }, event.what);
  std::vector<std::byte> bytes(out.ByteSizeLong());
  if (!out.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())))
    throw Error(Code::resource_exhausted,
                "an event of " + std::to_string(bytes.size()) + " bytes; the format takes 2 GiB");
  return bytes;
}

Event decode_event(std::span<const std::byte> bytes) {
  events::Event in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw Error(Code::data_loss, "a record of " + std::to_string(bytes.size()) +
                                     " bytes is no event; is this one of TensorBoard's event files?");
  Event event{in.wall_time(), in.step(), std::vector<Summary>()};
  if (in.what_case() == events::Event::kFileVersion)
    event.what = Event::Version{in.file_version()};
  else if (in.what_case() == events::Event::kGraphDef)
    event.what = Event::GraphEvent{in.graph_def()};
  else if (in.session_log().status() == events::SessionLog::START)
    event.what = Event::SessionStart();
  else
    event.what = read(in.summary());
  return event;
}

}  // namespace actorflow
