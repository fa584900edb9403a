/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of functions and files as people say them. */
#ifndef HEARTH_SHORT_NAME_H
#define HEARTH_SHORT_NAME_H

/* The short form of a demangled C++ name, in place: without return type, parameters and template arguments
 * ("std::map<>::operator[]"), inline namespaces of the standard library, and the anonymous namespace; strings have the names
 * of their typedefs ("std::string"). C names lose the suffixes of a compiler's copies (".part.0"). Names that are neither
 * stay. */
void hearth_shorten_name(char *name);

/* Take "." and ".." and repeated separators out of a path, in place, without a look at the file system. */
void hearth_shorten_path(char *path);

#endif
