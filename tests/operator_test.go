package tests

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubecascade/kubecascade/tests/process"
)

const (
	tenant, other = "tenant", "other"
	holds         = "example.org/holds"
)

var widgetKind = schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}

// operatorRules returns all permissions of the operator in its namespace.
func operatorRules(extra ...rbacv1.PolicyRule) []rbacv1.PolicyRule {
	return append([]rbacv1.PolicyRule{
		{
			APIGroups: []string{"example.org"}, Resources: []string{"widgets"},
			Verbs: []string{"get", "list", "watch", "update"},
		},
		{APIGroups: []string{"example.org"}, Resources: []string{"widgets/status"}, Verbs: []string{"update"}},
		{
			APIGroups: []string{""}, Resources: []string{"configmaps"},
			Verbs: []string{"get", "list", "watch", "create", "update"},
		},
		{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
			Verbs: []string{"get", "create", "update"},
		},
		{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}, extra...)
}

// mayBlock allows the operator to set blockOwnerDeletion in its objects.
var mayBlock = rbacv1.PolicyRule{
	APIGroups: []string{"example.org"}, Resources: []string{"widgets/finalizers"}, Verbs: []string{"update"},
}

// TestOperatorNeedsOnlyItsRole runs an operator of controller-runtime as a chart installs it: with a service account, a
// token that is renewed during the test, and a Role. The operator can do its work with these, and nothing else.
func TestOperatorNeedsOnlyItsRole(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ctrl.SetLogger(logr.Discard())
	s := process.Start(t, "--authorization-mode=RBAC",
		"--enable-admission-plugins=ServiceAccount,OwnerReferencesPermissionEnforcement")
	w := newWorld(ctx, t, s)
	mgr := w.operate(ctx)

	w.make(ctx, widget("one"))
	w.await(ctx, "the widget's ConfigMap and status", func() bool {
		return w.text(ctx, "one") == "hello one" && w.status(ctx, "one") == "hello one"
	})
	own := w.configMap(ctx, "one").OwnerReferences
	if len(own) != 1 || own[0].BlockOwnerDeletion == nil || !*own[0].BlockOwnerDeletion {
		t.Errorf("owners: %+v", own)
	}
	refusedOutside(ctx, t, mgr)

	// The current rules of the role determine what the operator may do.
	w.setRules(ctx, operatorRules())
	w.make(ctx, widget("two"))
	w.await(ctx, "a refusal", func() bool {
		return strings.Contains(
			w.failure(), "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
		)
	})
	w.setRules(ctx, operatorRules(mayBlock))
	w.await(ctx, "the second ConfigMap", func() bool { return w.text(ctx, "two") == "hello two" })

	// A token that has ended gets 401, and the operator reads the new one without a restart.
	w.endToken(ctx)
	if err := mgr.GetAPIReader().Get(ctx, types.NamespacedName{
		Namespace: tenant, Name: "one",
	}, &corev1.ConfigMap{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("with a token that has ended: %v", err)
	}
	w.issueToken(ctx)
	w.make(ctx, widget("three"))
	w.await(ctx, "the third ConfigMap", func() bool { return w.text(ctx, "three") == "hello three" })

	// The operator removes its finalizers from its widgets, and their objects are collected.
	for _, name := range []string{"one", "two", "three"} {
		if err := w.admin.Delete(ctx, widget(name)); err != nil {
			t.Fatal(err)
		}
	}
	w.await(ctx, "the end of all", func() bool {
		var widgets unstructured.UnstructuredList
		widgets.SetGroupVersionKind(widgetKind.GroupVersion().WithKind("WidgetList"))
		if err := w.admin.List(ctx, &widgets); err != nil {
			t.Fatal(err)
		}
		return len(widgets.Items) == 0 && w.text(ctx, "one")+w.text(ctx, "two")+w.text(ctx, "three") == ""
	})
}

// refusedOutside sends requests for which the operator has no permission.
func refusedOutside(ctx context.Context, t *testing.T, mgr manager.Manager) {
	t.Helper()
	r, c := mgr.GetAPIReader(), mgr.GetClient()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "operator"}, Rules: operatorRules(mayBlock),
	}
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(widgetKind.GroupVersion().WithKind("WidgetList"))
	as := rest.CopyConfig(mgr.GetConfig())
	as.Impersonate.UserName = "admin"
	somebody, err := client.New(as, client.Options{Scheme: mgr.GetScheme()})
	if err == nil {
		err = somebody.Get(ctx, types.NamespacedName{Namespace: tenant, Name: "one"}, &corev1.ConfigMap{})
	}
	for what, err := range map[string]error{
		"reading another namespace": r.Get(
			ctx, types.NamespacedName{Namespace: other, Name: "kube-root-ca.crt"}, &corev1.ConfigMap{}),
		"listing all namespaces": r.List(ctx, all),
		"reading a secret":       r.Get(ctx, types.NamespacedName{Namespace: tenant, Name: "token"}, &corev1.Secret{}),
		"deleting a widget":      c.Delete(ctx, widget("one")),
		"making a pod":           c.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "p"}}),
		"making a widget elsewhere": c.Create(ctx, func() client.Object {
			w := widget("x")
			w.SetNamespace(other)
			return w
		}()),
		"changing its role": c.Update(ctx, role),
		"a token of another account": c.SubResource("token").Create(
			ctx, account("default"), &authenticationv1.TokenRequest{}),
		"a token of its own":         c.SubResource("token").Create(ctx, account("operator"), &authenticationv1.TokenRequest{}),
		"acting as an administrator": err,
		"binding a role": c.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "b"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		}),
		"reading the namespace": r.Get(ctx, types.NamespacedName{Name: tenant}, &corev1.Namespace{}),
		"making an account": c.Create(
			ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "friend"}}),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func account(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: name}}
}

func widget(name string) *unstructured.Unstructured {
	w := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"text": "hello " + name}}}
	w.SetGroupVersionKind(widgetKind)
	w.SetNamespace(tenant)
	w.SetName(name)
	return w
}

// operate starts the operator as its service account. It ends with the test.
func (w *world) operate(ctx context.Context) manager.Manager {
	w.t.Helper()
	config := &rest.Config{Host: w.config.Host, TLSClientConfig: rest.TLSClientConfig{CAData: w.config.CAData}, QPS: -1}
	// As with BearerTokenFile, but after a 401 the token is read again at once, and not within a minute.
	config.Wrap(transport.ResettableTokenSourceWrapTransport(transport.NewCachedFileTokenSource(w.tokenFile)))
	again := true // the test may run more than once in a process
	mgr, err := ctrl.NewManager(config, manager.Options{
		Controller: ctrlconfig.Controller{SkipNameValidation: &again},
		Scheme:     w.admin.Scheme(), Metrics: metrics.Options{BindAddress: "0"},
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{tenant: {}}},
		LeaderElection: true, LeaderElectionID: "widgets", LeaderElectionNamespace: tenant,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	of := &unstructured.Unstructured{}
	of.SetGroupVersionKind(widgetKind)
	if err := ctrl.NewControllerManagedBy(mgr).For(of).Owns(&corev1.ConfigMap{}).Complete(
		&reconciler{mgr.GetClient(), w.failures}); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	return mgr
}

// reconciler gives each widget a ConfigMap.
type reconciler struct {
	client.Client
	failures chan error
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	err := r.reconcile(ctx, req.Name)
	if err != nil {
		select {
		case r.failures <- err:
		default:
		}
	}
	return ctrl.Result{}, err
}

func (r *reconciler) reconcile(ctx context.Context, name string) error {
	o := widget(name)
	if err := r.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return client.IgnoreNotFound(err)
	}
	if o.GetDeletionTimestamp() != nil {
		controllerutil.RemoveFinalizer(o, holds)
		return client.IgnoreNotFound(r.Update(ctx, o))
	}
	if controllerutil.AddFinalizer(o, holds) {
		if err := r.Update(ctx, o); err != nil {
			return err
		}
	}
	text, _, _ := unstructured.NestedString(o.Object, "spec", "text")
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, m, func() error {
		m.Data = map[string]string{"text": text}
		return controllerutil.SetControllerReference(o, m, r.Scheme())
	}); err != nil {
		return err
	}
	if err := unstructured.SetNestedField(o.Object, text, "status", "text"); err != nil {
		return err
	}
	return r.Status().Update(ctx, o)
}
