package server

import (
	"context"
	"fmt"
	"os"

	"github.com/kubecascade/kubecascade/apiserver/authorization"

	corev1 "k8s.io/api/core/v1"

	rbacv1 "k8s.io/api/rbac/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/simulation"
)

// readNodes reads the file of --simulate-nodes, before anything is started: a mistake in it prevents the start.
func (c *Config) readNodes() error {
	if c.NodesFile == "" {
		return nil
	}
	data, err := os.ReadFile(c.NodesFile)
	if err != nil {
		return fmt.Errorf("--simulate-nodes: %w", err)
	}
	if c.Simulation.Nodes, err = simulation.ParseNodes(data); err != nil {
		return fmt.Errorf("--simulate-nodes %s: %w", c.NodesFile, err)
	}
	return nil
}

// metricsReader is the role by which the roles view, edit and admin read metrics.k8s.io (metrics-server
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

// seed creates the missing objects of --simulate-pods: the role for metrics, and the nodes of --simulate-nodes, which a
// kubelet registers when it starts. What is present stays as it is. Only an invalid node is an error: one that a
// webhook rejects must not prevent the start, as the webhook could not be removed then.
func (s *system) seed(ctx context.Context) error {
	if !s.c.Simulate {
		return nil
	}
	api := s.api.Loopback(authorization.Loopback, "kubelet")
	create := func(group, plural, name string, o runtime.Object) error {
		r := api.Types().Lookup(group, "v1", plural)
		_, err := api.Create(ctx, registry.Path{Resource: r}, o)
		switch {
		case err == nil || apierrors.IsAlreadyExists(err):
		case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
			return fmt.Errorf("--simulate-nodes %s: %w", s.c.NodesFile, err)
		default:
			s.log.Warn("failed to create an object of --simulate-pods", "resource", plural, "name", name, "err", err)
		}
		return nil
	}
	role := metricsReader()
	if err := create(rbacv1.GroupName, "clusterroles", role.Name, role); err != nil {
		return err
	}
	for _, n := range s.c.Simulation.Nodes {
		if err := create(corev1.GroupName, "nodes", n.Name, n.DeepCopy()); err != nil {
			return err
		}
	}
	return nil
}
