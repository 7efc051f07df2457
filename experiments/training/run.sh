#!/usr/bin/env bash
# Runs presets of `shuffledp train` on MNIST or Fashion-MNIST, a few seeds each, and writes down what came of them.
#
#     experiments/training/run.sh [PRESET…]
#
# Stop it whenever you like: what is finished is skipped next time, what is half done is resumed.
#   SEEDS    which seeds (1 2 3)
#   SCRATCH  where the runs go (target/experiments-training)
#   DATA     the data directory, as of `shuffledp data` (the program's own)
#   SHUFFLEDP  the program (built here unless it is named)
set -euo pipefail
cd "$(dirname "$0")/../.."

presets=("$@")
if [ ${#presets[@]} -eq 0 ]; then
    for epsilon in 0.1 0.42 1; do
        presets+=(scattering-{gaussian,one-bit,top-set}-$epsilon fashion-gaussian-$epsilon)
    done
    presets+=(reference girgis-fig5a girgis-fig5a-tuned checkin-fig3a girgis-fig5b girgis-fig5b-tuned
        checkin-fig3b checkin-fig4 gaussian-fig1b enhanced-fig4)
fi
scratch=${SCRATCH:-target/experiments-training}
program=${SHUFFLEDP:-}
if [ -z "$program" ]; then
    cargo build --release -p shuffledp
    program=${CARGO_TARGET_DIR:-target}/release/shuffledp
fi
data=()
if [ -n "${DATA:-}" ]; then
    data=(--data "$DATA")
fi

for preset in "${presets[@]}"; do
    case $preset in
    fashion-*) echo fashion-mnist ;;
    *) echo mnist ;;
    esac
done | sort -u | while read -r dataset; do
    "$program" data "$dataset" "${data[@]}" >&2
done
mkdir -p "$scratch"
for seed in ${SEEDS:-1 2 3}; do
    for preset in "${presets[@]}"; do
        folder=$scratch/$preset-$seed
        if [ -e "$folder/run.json" ]; then
            echo "$preset, seed $seed: finished before" >&2
            continue
        fi
        if [ -e "$folder/config.toml" ]; then
            echo "$preset, seed $seed: goes on" >&2
            "$program" train --resume "$folder" "${data[@]}"
        else
            echo "$preset, seed $seed" >&2
            # Stopped before it began: nothing in there is worth keeping.
            rm -rf "$folder"
            "$program" train --preset "$preset" --seed "$seed" --output "$folder" "${data[@]}"
        fi
        python3 experiments/training/collect.py "$scratch"
    done
done
python3 experiments/training/collect.py "$scratch"
