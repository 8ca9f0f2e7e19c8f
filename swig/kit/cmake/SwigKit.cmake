# SPDX-License-Identifier: Apache-2.0
# A Python module of an interface file:
#
#   execute_process(COMMAND python -m pkg --cmake-dir
#                   OUTPUT_VARIABLE SWIGKIT OUTPUT_STRIP_TRAILING_WHITESPACE)
#   include(${SWIGKIT}/SwigKit.cmake)
#   swigkit_add_module(geometry geometry.i geometry.cc)
#
# The target is an ordinary one: target_link_libraries, target_include_directories and
# target_compile_definitions hold for SWIG as well.  geometry.pyi lies where the module
# does by default, in the folder of the build.
cmake_minimum_required(VERSION 3.20)
include_guard()

get_filename_component(SWIGKIT_FOLDER "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

# swigkit_add_module(NAME NAME.i [SOURCE...] [SWIG_OPTIONS OPTION...])
function(swigkit_add_module name interface)
  cmake_parse_arguments(PARSE_ARGV 2 module "" "" "SWIG_OPTIONS")
  get_filename_component(interface "${interface}" ABSOLUTE)
  get_filename_component(beside "${interface}" DIRECTORY)
  set(out "${CMAKE_CURRENT_BINARY_DIR}")
  set(depfile "${out}/${name}_wrap.d")
  set(options "")
  foreach(option IN LISTS module_SWIG_OPTIONS)
    list(APPEND options "--swig-option=${option}")
  endforeach()
  # What the target is compiled with, known when all of the project is.
  set(folders "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
  set(macros "$<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>")
  add_custom_command(
    OUTPUT "${out}/${name}_wrap.cc"
    BYPRODUCTS "${out}/${name}.pyi"
    COMMAND
      Python::Interpreter "${SWIGKIT_FOLDER}" wrap "${interface}" --generate
      --out "${out}" --keep "${out}/swigkit/${name}" --depfile "${depfile}" ${options}
      "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
      "$<$<BOOL:${macros}>:-D$<JOIN:${macros},;-D>>"
    DEPENDS "${interface}"
    DEPFILE "${depfile}"
    COMMENT "Wrapping ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  Python_add_library(${name} MODULE WITH_SOABI
    "${out}/${name}_wrap.cc" ${module_UNPARSED_ARGUMENTS})
  # Beside what SWIG wrote lies the header of its directors.
  target_include_directories(${name} PRIVATE
    "${SWIGKIT_FOLDER}/include" "${beside}" "${out}/swigkit/${name}")
  target_compile_features(${name} PRIVATE cxx_std_20)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden)
  set_source_files_properties("${out}/${name}_wrap.cc" PROPERTIES COMPILE_OPTIONS -w)
endfunction()
