#!/bin/sh
# Builds etcd and kube-apiserver, in the versions of go.mod beside this script,
# into .cache/controlplane of the repository. Does nothing when they are there.
set -eu
cd "$(dirname "$0")"
out=../../.cache/controlplane
lock=$out/lock
export CGO_ENABLED=0 GOWORK=off

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
	echo "controlplane: KUBEBUILDER_ASSETS is set: nothing to build"
	exit 0
fi

version() { awk -v module="$1" '$1 == module && $2 ~ /^v/ { print $2; exit }' go.mod; }
kubernetes=$(version k8s.io/kubernetes)
etcd=$(version go.etcd.io/etcd/server/v3)
if [ -z "$kubernetes" ] || [ -z "$etcd" ]; then
	echo "controlplane: tools/controlplane/go.mod: no version of k8s.io/kubernetes or go.etcd.io/etcd/server/v3" >&2
	exit 1
fi
# go.sum covers every version that the build uses.
wanted="kubernetes $kubernetes, etcd $etcd, $(go env GOOS)/$(go env GOARCH), go.sum $(cksum <go.sum)"

current() {
	[ -x "$out/etcd" ] && [ -x "$out/kube-apiserver" ] && [ "$(cat "$out/stamp" 2>/dev/null)" = "$wanted" ]
}

# lock_gone succeeds when whoever made the lock ended without removing it. A
# lock without a number is one that is being made, unless it stays so.
lock_gone() {
	owner=$(cat "$lock/pid" 2>/dev/null) || { sleep 2; owner=$(cat "$lock/pid" 2>/dev/null) || return 0; }
	! kill -0 "$owner" 2>/dev/null
}

current && exit 0
mkdir -p "$out"
waiting=
until mkdir "$lock" 2>/dev/null; do
	if lock_gone; then
		rm -rf "$lock"
		continue
	fi
	[ -n "$waiting" ] || echo "controlplane: another build is under way: waiting for it"
	waiting=yes
	sleep 2
done
echo $$ >"$lock/pid"
trap 'rm -rf "$lock"' EXIT
trap 'exit 1' HUP INT TERM
current && exit 0

# The lock saves work. What keeps a half-made binary from being used is that
# each is built inside the lock's folder and moved to its place in one step.
build() {
	echo "controlplane: building $1 $3"
	go build -mod=readonly -ldflags "-s -w $4" -o "$lock/$1" "$2"
	mv -f "$lock/$1" "$out/$1"
}

echo "controlplane: building the test API server; the first time takes several minutes"
rm -f "$out/stamp"
build etcd go.etcd.io/etcd/server/v3 "$etcd" ''
number=${kubernetes#v}
major=${number%%.*}
minor=${number#*.}
minor=${minor%%.*}
package=k8s.io/component-base/version
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver "$kubernetes" \
	"-X $package.gitVersion=$kubernetes -X $package.gitMajor=$major -X $package.gitMinor=$minor"
echo "$wanted" >"$lock/stamp"
mv -f "$lock/stamp" "$out/stamp"
echo "controlplane: done"
