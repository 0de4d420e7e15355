# Sourced by the scripts: what Open MPI needs to start ranks on one machine, also as root and on few cores.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_rmaps_base_oversubscribe=1       # more ranks than cores are welcome
export OMPI_MCA_hwloc_base_binding_policy=none   # else each of two ranks is bound to one core and its threads share it
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
