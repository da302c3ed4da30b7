"""Processes of a command end with it, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from joblib import delayed

from deepcac.worker_processes import workers

WORK = r"""
import os, sys, time
from joblib import delayed
from deepcac.worker_processes import workers

def wait(_):
    os.write(1, b"%d\n" % os.getpid())  # at once: both write to one pipe
    time.sleep(600)

workers(2)(delayed(wait)(j) for j in range(2))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_workers_end_with_a_process_that_is_killed():
    command = subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE, text=True)
    workers = [int(command.stdout.readline()) for _ in range(2)]
    assert all(map(lives, workers))
    command.kill()
    command.wait()
    for _ in range(100):
        if not any(map(lives, workers)):
            return
        time.sleep(0.1)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    raise AssertionError("workers live on")


def lives(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")")[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_give_what_the_function_gives(jobs):
    assert workers(jobs)(delayed(divmod)(n, 2) for n in (4, 5)) == [(2, 0), (2, 1)]


def test_a_worker_whose_command_is_gone_before_its_first_task_ends():
    late = (
        "import time\nfrom deepcac.worker_processes import _end_with\n_end_with(0)\ntime.sleep(60)"
    )
    assert subprocess.run([sys.executable, "-c", late], timeout=50, check=False).returncode == 1
