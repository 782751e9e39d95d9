// Package examples has the tests of what users copy: the manifests of examples/,
// the ClusterPromotionTask as Kargo runs it, the expressions of docs/http.md, and
// the release. It has no code of its own.
//
// In: the files of the repository. Out: nothing. What Kargo does with a task is
// played here, from what Kargo v1.11.2 was seen to do: templates, inflation of
// tasks, and the steps http and compose-output.
package examples
