# Writes the commit of SOURCE into the header HEADER, at each build; the file is only touched when the commit changed.
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
set(commit "")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
  set(commit "unknown commit")
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define WEFT_COMMIT \"@commit@\"\n" @ONLY)
