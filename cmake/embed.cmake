# Make a C file that defines files as strings, each ending in NUL. Run by `cmake -P`, with
#   OUTPUT  the C file
#   HEADER  that declares the strings
#   NAMES   of the strings; FILES of each follow as FILES_name, joined in that order
set(text "/* Made by cmake/embed.cmake; do not edit. */\n#include \"${HEADER}\"\n")
foreach(name ${NAMES})
  set(bytes)
  foreach(file ${FILES_${name}})
    file(READ ${file} hex HEX)
    string(APPEND bytes ${hex})
  endforeach()
  string(REGEX REPLACE "(................................)" "\\1\n" bytes ${bytes})
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes ${bytes})
  string(APPEND text "const char ${name}[] = {\n${bytes} 0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
