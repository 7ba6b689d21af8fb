package controllers

import (
	"context"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/persistentvolume"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

// metricsReader returns the role by which the roles view, edit and admin read metrics.k8s.io (metrics-server
// manifests/base/rbac.yaml).
func metricsReader() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "system:aggregated-metrics-reader", Labels: map[string]string{
			"k8s-app": "metrics-server",
			"rbac.authorization.k8s.io/aggregate-to-admin": "true",
			"rbac.authorization.k8s.io/aggregate-to-edit":  "true",
			"rbac.authorization.k8s.io/aggregate-to-view":  "true",
		}},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"metrics.k8s.io"}, Resources: []string{"pods", "nodes"},
			Verbs: []string{"get", "list", "watch"},
		}},
	}
}

// EnsureSimulated creates the missing objects of --simulate-pods: the role for metrics, the class of volumes, and the
// nodes of the file. (In a cluster, each kubelet registers its node when it starts.) Objects that exist stay as they
// are. Only an invalid node is an error. If a webhook or a policy rejects an object, the server must start all the
// same: otherwise users could not remove the webhook or the policy.
func EnsureSimulated(
	ctx context.Context, api NamespaceAPI, file string, nodes []*corev1.Node, log *slog.Logger,
) error {
	objects := []workload.Object{metricsReader(), persistentvolume.StandardClass()}
	for _, n := range nodes {
		objects = append(objects, n.DeepCopy())
	}
	for _, o := range objects {
		_, err := api.Create(ctx, o)
		_, node := o.(*corev1.Node)
		switch {
		case err == nil || apierrors.IsAlreadyExists(err):
		case node && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)):
			return fmt.Errorf("--simulate-nodes %s: %w", file, err)
		default:
			log.Warn("failed to create an object of --simulate-pods", "resource", workload.Of(o).Plural,
				"name", o.GetName(), "err", err)
		}
	}
	return nil
}
