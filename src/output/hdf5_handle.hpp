#pragma once
// What the users of HDF5's C interface share.

#include "weft/output/hdf5.hpp"

#include <hdf5.h>

#include <string>
#include <utility>

namespace weft {

/// An HDF5 handle that is closed at the end of its scope.
class HdfHandle {
 public:
  HdfHandle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  HdfHandle(HdfHandle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  HdfHandle& operator=(const HdfHandle&) = delete;
  ~HdfHandle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// HDF5's own report of the last failure: its most specific line.
std::string hdf5_reason();

/// A number in memory and in files.
hid_t type_of(Number number);

/// Access properties of every file: the newest layout, and errors that come as ours.
HdfHandle newest_layout();

/// The extent [rows] or [rows x components].
HdfHandle extent_of(RowType type, hsize_t rows);

}  // namespace weft
