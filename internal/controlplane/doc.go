// Package controlplane runs a real etcd and kube-apiserver for tests.
//
// In: the two binaries (KUBEBUILDER_ASSETS, else .cache/controlplane, made by
// make controlplane) and Kargo's CRDs from the Kargo module in the module cache.
// Out: a Server on a free loopback port, RBAC on, with Kargo's resources served,
// and helpers to make users, namespaces, Stages and Freight in it.
//
// Servers are independent of each other, so packages may be tested in parallel.
// A Server ends with the process that started it, however that ends. The
// package is for tests alone; those that need a Server carry the build tag
// "integration" and fail where the binaries are missing.
package controlplane
