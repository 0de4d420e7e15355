/* A disk that fails, for LD_PRELOAD: counts the calls that change files below one folder (open, write, fsync, close,
 * rename) and lets some of them fail, or take their time. Set by the environment:
 *   WEFT_DISK        the folder (an absolute path)
 *   WEFT_DISK_RANK   only calls of this rank of Open MPI count [all ranks, each by itself]
 *   WEFT_DISK_FIRST  the number of the first call that fails, from 1 [none does]
 *   WEFT_DISK_CALLS  how many calls fail from there on [1]; 0: all
 *   WEFT_DISK_ERROR  EIO, ENOSPC or EDQUOT [EIO]
 *   WEFT_DISK_DELAY  milliseconds that each fsync takes [0]
 *   WEFT_DISK_COUNT  a file for the number of calls, written when the process ends; ".RANK" is added to its name
 *   WEFT_DISK_LOG    a file to which each failed call is appended
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static long number_of(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

static int is_below(const char* path) {
  const char* folder = getenv("WEFT_DISK");
  const size_t length = folder ? strlen(folder) : 0;
  return length > 0 && path && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static int is_my_rank(void) {
  const char *wanted = getenv("WEFT_DISK_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");
  return !wanted || !*wanted || strcmp(wanted, rank ? rank : "0") == 0;
}

/* True, with errno set, if this call has to fail. */
static int has_to_fail(const char* call, const char* path) {
  if (!is_below(path) || !is_my_rank()) return 0;
  const long k = atomic_fetch_add(&calls, 1) + 1;
  const long first = number_of("WEFT_DISK_FIRST", 0), count = number_of("WEFT_DISK_CALLS", 1);
  if (first == 0 || k < first || (count > 0 && k >= first + count)) return 0;
  const char* error = getenv("WEFT_DISK_ERROR");
  const char* log = getenv("WEFT_DISK_LOG");
  if (log) {
    char line[PATH_MAX + 64];
    const int length = snprintf(line, sizeof line, "call %ld: %s %s\n", k, call, path);
    const int file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file >= 0) {
      (void)!syscall(SYS_write, file, line, (size_t)length);
      syscall(SYS_close, file);
    }
  }
  errno = error && strcmp(error, "ENOSPC") == 0 ? ENOSPC : error && strcmp(error, "EDQUOT") == 0 ? EDQUOT : EIO;
  return 1;
}

static int descriptor_has_to_fail(const char* call, int file) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const int saved = errno;
  const ssize_t length = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (length < 0) return 0;
  path[length] = '\0';
  return has_to_fail(call, path);
}

#define ORIGINAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_with(__typeof__(&open) original, const char* path, int flags, mode_t mode) {
  return has_to_fail("open", path) ? -1 : original(path, flags, mode);
}
#define MODE_OF(flags)                        \
  mode_t mode = 0;                            \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {    \
    va_list more;                             \
    va_start(more, flags);                    \
    mode = va_arg(more, mode_t);              \
    va_end(more);                             \
  }
int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_with(ORIGINAL(open), path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_with(ORIGINAL(open64), path, flags, mode);
}
ssize_t write(int file, const void* from, size_t bytes) {
  return descriptor_has_to_fail("write", file) ? -1 : ORIGINAL(write)(file, from, bytes);
}
ssize_t pwrite(int file, const void* from, size_t bytes, off_t offset) {
  return descriptor_has_to_fail("pwrite", file) ? -1 : ORIGINAL(pwrite)(file, from, bytes, offset);
}
ssize_t pwrite64(int file, const void* from, size_t bytes, off64_t offset) {
  return descriptor_has_to_fail("pwrite", file) ? -1 : ORIGINAL(pwrite64)(file, from, bytes, offset);
}
ssize_t pwritev(int file, const struct iovec* from, int count, off_t offset) {
  return descriptor_has_to_fail("pwritev", file) ? -1 : ORIGINAL(pwritev)(file, from, count, offset);
}
int ftruncate(int file, off_t length) {
  return descriptor_has_to_fail("ftruncate", file) ? -1 : ORIGINAL(ftruncate)(file, length);
}
int fsync(int file) {
  const long delay = number_of("WEFT_DISK_DELAY", 0);
  if (delay > 0) usleep((useconds_t)delay * 1000);
  return descriptor_has_to_fail("fsync", file) ? -1 : ORIGINAL(fsync)(file);
}
int close(int file) {
  const int fails = descriptor_has_to_fail("close", file), error = errno;
  const int closed = ORIGINAL(close)(file);
  if (!fails) return closed;
  errno = error;
  return -1;
}
int rename(const char* from, const char* to) {
  return has_to_fail("rename", to) ? -1 : ORIGINAL(rename)(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return has_to_fail("rename", to) ? -1 : ORIGINAL(renameat2)(from_folder, from, to_folder, to, flags);
}

__attribute__((destructor)) static void tell_count(void) {
  const char* name = getenv("WEFT_DISK_COUNT");
  if (!name || atomic_load(&calls) == 0) return;
  char path[PATH_MAX], text[32];
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  snprintf(path, sizeof path, "%s.%s", name, rank ? rank : "0");
  const int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) return;
  (void)!syscall(SYS_write, file, text, (size_t)length);
  syscall(SYS_close, file);
}
