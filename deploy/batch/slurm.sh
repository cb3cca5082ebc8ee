#!/bin/sh
# sbatch --array=0-7 deploy/batch/slurm.sh INPUT OUTPUT [option]...
#SBATCH --job-name=berth-transform
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --signal=B:TERM@60
set -eu
input=$1 output=$2
shift 2
# Slurm tells each task which of how many it is. CHECKOUT is one of Berth that was built.
exec "${CHECKOUT:-$SLURM_SUBMIT_DIR}/transform" --input "$input" --output "$output" "$@"
