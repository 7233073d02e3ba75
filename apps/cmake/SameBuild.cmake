# cmake -D FOLDER=headers -D OPTIONS=text -D OUTPUT=folder -P SameBuild.cmake: writes OUTPUT/same_build.h, which is
# installed as dataflow/values/same_build.h, and OUTPUT/same_build.cpp, which defines for the library what that header
# refers to: a symbol named after the installed headers of FOLDER and the options of the build.
cmake_minimum_required(VERSION 3.25)
set(text "${OPTIONS}\n")
foreach(kind public implementation)
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/${kind}_headers.txt headers REGEX "^[a-z]")
  list(REMOVE_ITEM headers dataflow/values/same_build.h)
  foreach(header ${headers})
    file(SHA256 ${FOLDER}/${header} hash)
    string(APPEND text "${header} ${hash}\n")
  endforeach()
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING ${hash} 0 16 hash)
set(symbol actorflow_headers_and_library_must_be_of_one_build_${hash})
configure_file(${CMAKE_CURRENT_LIST_DIR}/same_build.h.in ${OUTPUT}/same_build.h @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/same_build.cpp
  CONTENT "extern \"C\" const char ${symbol};\nconst char ${symbol} = 0;\n" @ONLY)
