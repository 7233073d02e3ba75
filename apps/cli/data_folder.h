// Where the data sets of the project lie.
#pragma once

#include <string>

namespace actorflow {

// The default folder of data of that name: beside the program's build folder, or in share/ of the prefix
// where it is installed. "" if it is in neither.
std::string default_data_folder(const std::string& name = "mnist");

// The folder for the option --data: a folder, or the name of a data set of the project; "" = mnist. The
// names digits, iris, mnist and shakespeare mean the project's data also where the current folder has a
// file or folder of that name, such as a program or checkpoints; ./digits means that one.
std::string data_folder(const std::string& given);
// The same, but also a file, of which NAME may stand for NAME.csv or
// NAME.txt.gz of the project.
std::string data_path(const std::string& given);

}  // namespace actorflow
