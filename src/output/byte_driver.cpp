#include "output/byte_driver.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // from HDF5 1.14 on, drivers are declared there
#endif

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>

namespace weft {
namespace {

/// What HDF5 holds of an open file; the first member is its own.
struct OpenBytes {
  H5FD_t base{};
  HdfBytes* bytes = nullptr;
  haddr_t allocated = 0;
};

OpenBytes* opened(H5FD_t* file) { return reinterpret_cast<OpenBytes*>(file); }
const OpenBytes* opened(const H5FD_t* file) { return reinterpret_cast<const OpenBytes*>(file); }

H5FD_t* open(const char*, unsigned, hid_t access, haddr_t) {
  auto* file = new OpenBytes;
  file->bytes = *static_cast<HdfBytes* const*>(H5Pget_driver_info(access));
  return &file->base;
}

herr_t close(H5FD_t* file) {
  delete opened(file);
  return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
  return std::less<>()(opened(a)->bytes, opened(b)->bytes) ? -1 : opened(a)->bytes != opened(b)->bytes;
}

herr_t query(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t end_of_allocated(const H5FD_t* file, H5FD_mem_t) { return opened(file)->allocated; }

herr_t set_end_of_allocated(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  opened(file)->allocated = end;
  opened(file)->bytes->set_length(end);
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return opened(file)->bytes->length(); }

/// An exception must not pass through HDF5.
template <class Work>
herr_t without_exceptions(H5FD_t* file, const Work& work) {
  try {
    work(*opened(file)->bytes);
  } catch (const Error& error) {
    opened(file)->bytes->failure = error.what();
    return -1;
  }
  return 0;
}

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t count, void* to) {
  return without_exceptions(file, [&](HdfBytes& bytes) { bytes.read(to, count, offset); });
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t count, const void* from) {
  return without_exceptions(file, [&](HdfBytes& bytes) { bytes.write(from, count, offset); });
}

hid_t the_driver() {
  static const hid_t driver = [] {
    static H5FD_class_t functions{};
    functions.name = "weft_bytes";
    functions.maxaddr = ~haddr_t{0} >> 1;
    functions.fc_degree = H5F_CLOSE_STRONG;
    functions.fapl_size = sizeof(HdfBytes*);
    functions.open = open;
    functions.close = close;
    functions.cmp = compare;
    functions.query = query;
    functions.get_eoa = end_of_allocated;
    functions.set_eoa = set_end_of_allocated;
    functions.get_eof = end_of_file;
    functions.read = read;
    functions.write = write;
    constexpr H5FD_mem_t kinds[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(kinds), std::end(kinds), functions.fl_map);
#ifdef H5FD_CLASS_VERSION
    functions.version = H5FD_CLASS_VERSION;
    functions.value = static_cast<H5FD_class_value_t>(600);  // of the range for drivers outside HDF5
#endif
    return H5FDregister(&functions);
  }();
  return driver;
}

}  // namespace

void SparseMemory::write(const void* from, std::size_t count, std::uint64_t offset) {
  for (const auto* next = static_cast<const std::byte*>(from); count > 0;) {
    const std::size_t within = offset % page_bytes, here = std::min(page_bytes - within, count);
    std::memcpy(pages_[offset / page_bytes].data() + within, next, here);
    next += here, offset += here, count -= here;
  }
}

void SparseMemory::read(void* to, std::size_t count, std::uint64_t offset) const {
  for (auto* next = static_cast<std::byte*>(to); count > 0;) {
    const std::size_t within = offset % page_bytes, here = std::min(page_bytes - within, count);
    const auto page = pages_.find(offset / page_bytes);
    if (page == pages_.end()) std::memset(next, 0, here);
    else std::memcpy(next, page->second.data() + within, here);
    next += here, offset += here, count -= here;
  }
}

void SparseMemory::copy_to(const Descriptor& file) const {
  for (const auto& [number, page] : pages_) {
    const std::uint64_t begin = number * page_bytes;
    if (begin < length_) file.write(page.data(), std::min<std::uint64_t>(page_bytes, length_ - begin), begin);
  }
}

FileToRead::FileToRead(const std::filesystem::path& path, ExitCode code)
    : file_(path, O_RDONLY, code), length_(file_.bytes()) {}

void use_bytes(hid_t access_properties, HdfBytes& bytes) {
  const HdfBytes* pointer = &bytes;
  H5Pset_driver(access_properties, the_driver(), static_cast<const void*>(&pointer));
}

}  // namespace weft
