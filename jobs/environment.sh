# Sourced by the scripts: what Open MPI and OpenMP need on one machine, as root, on few cores and beside other work.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_rmaps_base_oversubscribe=1       # more ranks than cores are welcome
export OMPI_MCA_hwloc_base_binding_policy=none   # else each of two ranks is bound to one core and its threads share it
# Ranks and threads that wait leave their core to others after a moment; on the cores of a cluster's job they spin.
export OMPI_MCA_mpi_yield_when_idle="${OMPI_MCA_mpi_yield_when_idle:-1}"
export GOMP_SPINCOUNT="${GOMP_SPINCOUNT:-1000}"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
