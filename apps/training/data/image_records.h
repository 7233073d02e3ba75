// Labelled images as record files, as tensorflow_datasets writes them: TFRecords of tf.train.Examples
// with the features "image", a PNG image, and "label"; the files are called
// [NAME-]train.tfrecord-00000-of-00004 and [NAME-]test.tfrecord-...
#pragma once

#include <atomic>
#include <string>

#include "apps/training/data/images.h"

namespace actorflow {

// Whether the folder has files of such a name.
bool has_image_records(const std::string& folder);

// Reads them all, in the order of their numbers. Throws not_found that names a file which is missing,
// data_loss for records that are no such examples, and what reading them throws.
ImageData load_image_records(const std::string& folder);

// Writes both parts in `shards` files each, of consecutive images, so that what is read is what was
// given. Returns false if `stopped` has become true; then no file of it stays, nor where writing throws.
// Throws already_exists if the folder has record files, and what writing throws.
bool write_image_records(const ImageData& data, const std::string& folder, int shards,
                         const std::atomic<bool>& stopped);

}  // namespace actorflow
