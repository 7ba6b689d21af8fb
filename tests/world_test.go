package tests

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecascade/kubecascade/tests/process"
)

// world is a server with the objects that a chart installs, as its administrator sees it.
type world struct {
	t      *testing.T
	admin  client.Client
	api    kubernetes.Interface
	config *rest.Config
	// tokenFile is the file with the operator's token.
	tokenFile string
	failures  chan error
	last      string
}

func newWorld(ctx context.Context, t *testing.T, s *process.Server) *world {
	t.Helper()
	w := &world{t: t, tokenFile: filepath.Join(t.TempDir(), "token"), failures: make(chan error, 1)}
	var err error
	if w.config, err = clientcmd.BuildConfigFromFlags("", s.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	w.config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	if w.admin, err = client.New(w.config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	w.api = kubernetes.NewForConfigOrDie(w.config)
	yes := true
	w.make(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.org"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.org", Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				},
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes},
				}}},
		}})
	for _, name := range []string{tenant, other} {
		w.make(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	w.make(ctx, account("operator"))
	w.make(
		ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "operator"}, Rules: operatorRules(mayBlock)},
	)
	w.make(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "operator"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "operator"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: tenant, Name: "operator"}}})
	w.issueToken(ctx)
	w.await(ctx, "the definition", func() bool {
		var d apiextensionsv1.CustomResourceDefinition
		if err := w.admin.Get(ctx, types.NamespacedName{Name: "widgets.example.org"}, &d); err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true
			}
		}
		return false
	})
	return w
}

func (w *world) make(ctx context.Context, o client.Object) {
	w.t.Helper()
	if err := w.admin.Create(ctx, o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) setRules(ctx context.Context, rules []rbacv1.PolicyRule) {
	w.t.Helper()
	if err := w.admin.Update(
		ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "operator"}, Rules: rules},
	); err != nil {
		w.t.Fatal(err)
	}
}

// issueToken requests a token that is bound to a secret, and writes it to the operator's token file.
func (w *world) issueToken(ctx context.Context) {
	w.t.Helper()
	w.make(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "token"}})
	tr, err := w.api.CoreV1().ServiceAccounts(tenant).CreateToken(ctx, "operator", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: "token"},
		}}, metav1.CreateOptions{})
	if err == nil {
		err = os.WriteFile(w.tokenFile, []byte(tr.Status.Token), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// endToken deletes the secret to which the token is bound, because the test can't wait until the token expires.
func (w *world) endToken(ctx context.Context) {
	w.t.Helper()
	if err := w.admin.Delete(
		ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "token"}}); err != nil {
		w.t.Fatal(err)
	}
}

// await reads until the condition is true.
func (w *world) await(ctx context.Context, what string, so func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.t.Fatalf("there is never %s; the operator's last failure is %q", what, w.failure())
		}
	}
}

// failure returns the last error of the operator.
func (w *world) failure() string {
	select {
	case err := <-w.failures:
		w.last = err.Error()
	default:
	}
	return w.last
}

func (w *world) configMap(ctx context.Context, name string) *corev1.ConfigMap {
	w.t.Helper()
	m := &corev1.ConfigMap{}
	if err := w.admin.Get(ctx, types.NamespacedName{Namespace: tenant, Name: name}, m); client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) text(ctx context.Context, name string) string {
	return w.configMap(ctx, name).Data["text"]
}

func (w *world) status(ctx context.Context, name string) string {
	w.t.Helper()
	o := widget(name)
	if err := w.admin.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		w.t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(o.Object, "status", "text")
	return text
}
