/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module with calls of malloc, for tests of mdlib. */
#ifndef HEARTH_TEST_MD_FIXTURE_H
#define HEARTH_TEST_MD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hearth/md.h"
#include "metadata_verifier.h"

typedef struct fixture {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMValueRef call, other; /* in one function */
  hearth_md *md;
} fixture;

static inline int setup(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->context = LLVMContextCreate();
  f->module = LLVMModuleCreateWithNameInContext("test", f->context);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(f->context), i8 = LLVMInt8TypeInContext(f->context);
  LLVMTypeRef pointer = LLVMPointerType(i8, 0);
  LLVMTypeRef malloc_type = LLVMFunctionType(pointer, &i64, 1, 0);
  LLVMValueRef callee = LLVMAddFunction(f->module, "malloc", malloc_type);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(f->context), NULL, 0, 0);
  LLVMValueRef function = LLVMAddFunction(f->module, "f", type);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(f->context);
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(f->context, function, ""));
  LLVMValueRef size = LLVMConstInt(i64, 8, 0);
  f->call = LLVMBuildCall2(b, malloc_type, callee, &size, 1, "");
  f->other = LLVMBuildCall2(b, malloc_type, callee, &size, 1, "");
  LLVMBuildRetVoid(b);
  LLVMDisposeBuilder(b);
  f->md = hearth_md_create(f->module);
  *state = f;
  return 0;
}

static inline int teardown(void **state) {
  fixture *f = *state;
  hearth_md_destroy(f->md);
  LLVMDisposeModule(f->module);
  LLVMContextDispose(f->context);
  free(f);
  return 0;
}

static inline unsigned kind(fixture *f, const char *name) {
  return LLVMGetMDKindIDInContext(f->context, name, (unsigned)strlen(name));
}

#define MD_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
