#!/bin/sh
# Publishes to a copy of stage.yaml and shows what happens, without a cluster.
# Needs publish-metadata on the PATH.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp stage.yaml "$work/stage.yaml"

say() { printf '\n== %s\n\n' "$1"; }
# The status of the Stage, without what the field managers note.
status() { awk '/^status:/ { shown = 1 } shown' "$work/stage.yaml"; }
publish() {
  echo "\$ publish-metadata run -f $1 --stage-file stage.yaml --in-place"
  publish-metadata run -f "$1" --stage-file "$work/stage.yaml" --in-place
}
refused() {
  cp "$work/stage.yaml" "$work/before.yaml"
  if publish "$1"; then echo "$1 should have been refused" >&2; exit 1; fi
  cmp "$work/before.yaml" "$work/stage.yaml" && echo "(the Stage is unchanged)"
}

say "Before: the Stage runs a promotion, and has no metadata"
status
say "A promotion has updated Argo CD, opened a pull request and run a third party's step"
publish publish.yaml
status
say "A second producer merges its own entry into links"
publish observe.yaml
status | sed -n '/^    links:/,/^    [a-km-z]/p' | sed '$d'
say "A third producer wants an entry that is not its own"
refused conflict.yaml
say "A careless producer learns of every mistake at once"
refused invalid.yaml
