/*
 * A library of one TorchScript operator, for tests. It stands in for a library like libtorchneuron.so: files that use
 * the operator load only where libtorch and then this library have been loaded.
 *
 *     berth_test::negate(Tensor values) -> Tensor     -values, for float32 on a CPU
 *
 * It speaks libtorch's C interface, which stays as it is from one version to the next, so that one binary serves any
 * libtorch from 2.7 on. trace/fixtures.py builds it.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What libtorch_cpu.so exports, as far as it is used here. All return 0 where they succeed. */

typedef struct tensor tensor;
typedef struct library library;
/* An argument or a result in 64 bits; a tensor is a pointer that whoever receives it must delete. */
typedef uint64_t value;

int32_t aoti_torch_library_init_def(const char *name, const char *file, uint32_t line, library **created);
int32_t aoti_torch_library_init_impl(
    const char *name, const char *dispatch_key, const char *file, uint32_t line, library **created);
int32_t aoti_torch_library_def(library *self, const char *schema);
int32_t aoti_torch_library_impl(library *self, const char *name, void (*kernel)(value *, uint64_t, uint64_t));
int32_t aoti_torch_clone(tensor *self, tensor **created);
int32_t aoti_torch_delete_tensor_object(tensor *self);
int32_t aoti_torch_get_data_ptr(tensor *self, void **data);
int32_t aoti_torch_get_dtype(tensor *self, int32_t *dtype);
int32_t aoti_torch_get_numel(tensor *self, int64_t *count);
int32_t aoti_torch_dtype_float32(void);

static const char NAME[] = "berth_test";

/* A kernel has no way to report an error. */
static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "berth_test::negate: %s\n", what);
    abort();
  }
}

static void negate(value *stack, uint64_t arguments, uint64_t results) {
  require(arguments == 1 && results == 1, "expected one argument and one result");
  tensor *values = (tensor *)(uintptr_t)stack[0];
  int32_t dtype;
  require(aoti_torch_get_dtype(values, &dtype) == 0 && dtype == aoti_torch_dtype_float32(), "expected float32");
  /* The strides of a clone leave no gaps, whatever those of the original do. */
  tensor *negated;
  void *data;
  int64_t count;
  require(aoti_torch_clone(values, &negated) == 0, "can't clone");
  require(aoti_torch_get_data_ptr(negated, &data) == 0 && aoti_torch_get_numel(negated, &count) == 0, "can't read");
  float *numbers = data;
  for (int64_t i = 0; i < count; i++) {
    numbers[i] = -numbers[i];
  }
  aoti_torch_delete_tensor_object(values);
  stack[0] = (value)(uintptr_t)negated;
}

/*
 * The library objects are never deleted: the operator would go with them. To fail here is harmless: it is what a second
 * copy of this library meets in a process, and the first one's operator stays.
 */
__attribute__((constructor)) static void register_operators(void) {
  library *definitions;
  library *implementations;
  if (aoti_torch_library_init_def(NAME, "testops.c", 0, &definitions) == 0 &&
      aoti_torch_library_def(definitions, "negate(Tensor values) -> Tensor") == 0 &&
      aoti_torch_library_init_impl(NAME, "CPU", "testops.c", 0, &implementations) == 0) {
    aoti_torch_library_impl(implementations, "negate", negate);
  }
}
