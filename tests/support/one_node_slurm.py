"""A Slurm of one node and two cores, with its daemons' files in a folder of its own; for tests of job scripts."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

# Without munge, cgroups or accounting. A requeued job waits for cred_expire + 1 seconds, by default
# 121 and at least 6.
# Jobs of the partition `urgent` preempt those of `spare`, which are queued again after 20 s of grace.
SETTINGS = """
ClusterName=one
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000
PartitionName=spare Nodes=localhost Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=20
PartitionName=urgent Nodes=localhost PriorityTier=2 PreemptMode=OFF
"""


class NoSlurm(Exception):
    """Says why there is no Slurm here."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Slurm:
    """Started, and ready for jobs; ends with the scope of `with`."""

    def __init__(self, folder):
        """Throws NoSlurm."""
        missing = [name for name in ("slurmctld", "slurmd", "sbatch", "srun") if not shutil.which(name)]
        if missing:
            raise NoSlurm(f"{', '.join(missing)} cannot be found (Debian: apt-get install slurm-wlm).")
        if os.geteuid() != 0:
            raise NoSlurm("Only root can start slurmd.")
        self.folder = pathlib.Path(folder)
        for name in "state", "spool":
            (self.folder / name).mkdir(parents=True)
        settings = self.folder / "slurm.conf"
        settings.write_text(SETTINGS.format(folder=folder, controller_port=free_port(), node_port=free_port()))
        # A clean environment, so that nothing of a job or of mpiexec around this test reaches the jobs.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM", "SBATCH", "OMPI_", "PMIX_"))}
        self.environment["SLURM_CONF"] = str(settings)
        try:
            for daemon in ["slurmctld", "-c"], ["slurmd", "-N", "localhost"]:
                self.call(*daemon)
            self.await_node()
        except (OSError, RuntimeError, subprocess.TimeoutExpired) as problem:
            self.stop()
            logs = "".join(file.read_text() for file in self.folder.glob("*.log"))
            raise NoSlurm(f"Slurm did not start: {problem}\n{logs}") from problem

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def call(self, *command, **more):
        """Runs a command to its end with this Slurm; its output. more: environment variables."""
        done = subprocess.run([*map(str, command)], env=self.environment | more, cwd=self.folder, capture_output=True,
                              text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def await_node(self, seconds=60):
        end = time.monotonic() + seconds
        while "idle" not in self.call("sinfo", "-h", "-o", "%T"):
            if time.monotonic() > end:
                raise RuntimeError(f"its node was not ready within {seconds} s")
            time.sleep(0.1)

    def job(self, number):
        """What Slurm says of a job: {key: value}."""
        words = self.call("scontrol", "show", "job", number, "--oneliner").split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def stop(self):
        """Ends all jobs and the daemons."""
        for signal_name in "TERM", "KILL":
            subprocess.run(["scancel", "--full", f"--signal={signal_name}", "--user=root"], env=self.environment,
                           capture_output=True, timeout=60)
        for daemon in "slurmd", "slurmctld":
            number = self.folder / f"{daemon}.pid"
            if number.exists():
                process = number.read_text().strip()
                os.kill(int(process), signal.SIGTERM)
                while pathlib.Path("/proc", process).exists():
                    time.sleep(0.05)
