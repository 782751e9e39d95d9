package controlplane

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

var (
	roles         = schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: "roles"}
	roleBindings  = schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: "rolebindings"}
	accessReviews = schema.GroupVersionResource{
		Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews",
	}
)

// Grant gives a user the rights of the rules in a namespace, by a Role and a
// RoleBinding, and waits until the server has taken note. Each rule must name
// its API group, verbs and resources ("stages/status" for a subresource).
func (s *Server) Grant(t testing.TB, namespace, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, GenerateName: "grant-"}
	role := s.create(t, roles, &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: meta, Rules: rules,
	})
	s.create(t, roleBindings, &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.GetName()},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	for _, rule := range rules {
		require.NotEmpty(t, rule.APIGroups)
		require.NotEmpty(t, rule.Resources)
		require.NotEmpty(t, rule.Verbs)
		review := accessReview(namespace, user, rule)
		err := wait.PollUntilContextTimeout(t.Context(), pollInterval, startTimeout, true,
			func(ctx context.Context) (bool, error) { return s.allowed(ctx, review) })
		require.NoError(t, err, "user %s: the grant took no effect", user)
	}
}

// accessReview asks for the first right of a rule. A user whose name is a
// service account's is in no groups here, but Grant binds the name alone.
func accessReview(namespace, user string, rule rbacv1.PolicyRule) *unstructured.Unstructured {
	resource, subresource := rule.Resources[0], ""
	if at := slices.Index([]byte(resource), '/'); at >= 0 {
		resource, subresource = resource[:at], resource[at+1:]
	}
	attributes := map[string]any{
		"namespace": namespace, "verb": rule.Verbs[0], "group": rule.APIGroups[0],
		"resource": resource, "subresource": subresource,
	}
	if len(rule.ResourceNames) > 0 {
		attributes["name"] = rule.ResourceNames[0]
	}
	review := newObject("authorization.k8s.io/v1", "SubjectAccessReview", "", "")
	review.Object["spec"] = map[string]any{"user": user, "resourceAttributes": attributes}
	return review
}

func (s *Server) allowed(ctx context.Context, review *unstructured.Unstructured) (bool, error) {
	answer, err := s.client.Resource(accessReviews).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}

// create creates a typed object of a namespace.
func (s *Server) create(t testing.TB, resource schema.GroupVersionResource, typed metav1.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	require.NoError(t, err)
	created, err := s.client.Resource(resource).Namespace(typed.GetNamespace()).
		Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	require.NoError(t, err)
	return created
}
