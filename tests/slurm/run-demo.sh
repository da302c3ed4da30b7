#!/usr/bin/env bash
# Runs the demo on a real one-node SLURM, in a copy of this checkout.
# Needs root and the Debian packages slurm-wlm and munge; starts and stops its own daemons.
# usage: tests/slurm/run-demo.sh [TARGET ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
state=$(mktemp -d)
host=$(hostname -s)
started=()

stop() {
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -f /etc/slurm/slurm.conf
}
trap stop EXIT

mkdir -p "$state"/{ctld,spool,munge} /etc/slurm /run/munge
chmod 755 "$state"
if ! munge -n >/dev/null 2>&1; then
    dd if=/dev/urandom of="$state/munge/key" bs=128 count=1 status=none
    chmod 700 "$state/munge" && chmod 600 "$state/munge/key"
    chown -R munge:munge "$state/munge" /run/munge
    runuser -u munge -- /usr/sbin/munged --force --key-file="$state/munge/key" \
        --pid-file="$state/munge/pid" --log-file="$state/munge/log" --seed-file="$state/munge/seed"
    started+=("$(cat "$state/munge/pid")")
fi

memory=$(awk '/MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)
sed -e "s#@STATE@#$state#g" -e "s#@HOST@#$host#g" -e "s#@CPUS@#$(nproc)#g" \
    -e "s#@MEMORY@#$memory#g" "$here/slurm.conf.in" >"$state/slurm.conf"
# The executor drops SLURM_* variables, so the configuration must be in its default place.
ln -sfn "$state/slurm.conf" /etc/slurm/slurm.conf
slurmctld
slurmd
for _ in $(seq 60); do
    [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && break
    sleep 0.5
done
started+=("$(cat "$state/slurmctld.pid")" "$(cat "$state/slurmd.pid")")
sinfo

copy=$state/project
mkdir "$copy"
git -C "$project" ls-files -z | (cd "$project" && xargs -0 tar -cf -) | tar -xf - -C "$copy"
cd "$copy"
PATH="$project/.venv/bin:$PATH" PYTHONPATH="$copy/src" snakemake \
    --profile workflow/profiles/slurm --configfile config/demo.yaml \
    --jobs 8 --latency-wait 10 --slurm-status-command squeue --slurm-no-account \
    --slurm-init-seconds-before-status-checks 5 --seconds-between-status-checks 5 "$@"
