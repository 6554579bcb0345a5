#!/usr/bin/env bash
# Inside a loop whose turns a team shares each lane is alone: a sum over the
# team, or another shared loop, would mix the lanes' rows there, or never end.
# The CUDA text of every example and test model is read for it.
set -uo pipefail
cd "$GBM_ROOT" || exit 1
checked=0 wrong=0
for model in examples/*/*.gbm tests/models/*/*.gbm tests/models/*/*.bug; do
    [ -e "$model" ] || continue
    text=$("$GBMC" "$model" --emit=cuda 2>/dev/null) || continue
    checked=$((checked + 1))
    awk -v model="$model" '
        { line = $0; inside = top > 0 }
        inside && /GBM_TEAM_FOR|gbm_team_(sum|max|min|sync)/ {
            print model ": " line; bad = 1 }
        /GBM_TEAM_FOR/ && /\{$/ { open[++top] = depth }
        { depth += gsub(/\{/, "{", line) - gsub(/\}/, "}", line) }
        top > 0 && depth <= open[top] { top-- }
        END { exit bad }' <<<"$text" || wrong=$((wrong + 1))
done
echo "$checked programs, $wrong with a team inside a shared loop"
[ $checked -gt 150 ] && [ $wrong = 0 ]
