package envtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const definitions, reconciles = 5, 10

// kind returns the i-th custom kind.
func kind(i int) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "speed.example", Version: "v1", Kind: fmt.Sprintf("Thing%c", 'A'+i)}
}

// definition returns the CustomResourceDefinition of the i-th kind.
func definition(i int) *apiextensionsv1.CustomResourceDefinition {
	open := true
	singular := fmt.Sprintf("thing%c", 'a'+i)
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: singular + "s.speed.example"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "speed.example", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: singular + "s", Singular: singular, Kind: kind(i).Kind, ListKind: kind(i).Kind + "List",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &open,
				}},
			}},
		},
	}
}

// times has the durations of a suite's phases.
type times struct{ start, install, reconcile, stop time.Duration }

// small runs a suite of 5 definitions and 10 reconciles.
func small(t testing.TB) (took times) {
	t.Helper()
	begin := time.Now()
	lap := func() time.Duration { d := time.Since(begin); begin = time.Now(); return d }
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	took.start = lap()
	options := envtest.CRDInstallOptions{}
	for i := range definitions {
		options.CRDs = append(options.CRDs, definition(i))
	}
	if _, err := envtest.InstallCRDs(config, options); err != nil {
		t.Error(err)
	}
	took.install = lap()
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan string, reconciles)
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind(0))
	name := fmt.Sprintf("speed-%d", time.Now().UnixNano()) // controllers' names are unique in a process
	err = ctrl.NewControllerManagedBy(mgr).Named(name).For(object).Complete(reconcile.Func(
		func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			done <- r.Name
			return reconcile.Result{}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	for i := range reconciles {
		o := object.DeepCopy()
		o.SetNamespace("default")
		o.SetName(fmt.Sprint("thing-", i))
		if err := mgr.GetClient().Create(ctx, o, &client.CreateOptions{}); err != nil {
			t.Error(err)
			break
		}
	}
	for range reconciles {
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatal("objects were not reconciled")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	took.reconcile = lap()
	if err := env.Stop(); err != nil {
		t.Error(err)
	}
	took.stop = lap()
	return took
}

// TestSpeed prints the duration of a suite of 5 definitions and 10 reconciles.
func TestSpeed(t *testing.T) {
	for range 5 {
		took := small(t)
		t.Logf("start %v, install %v, reconcile %v, stop %v, in all %v", took.start.Round(time.Millisecond),
			took.install.Round(time.Millisecond), took.reconcile.Round(time.Millisecond), took.stop.Round(time.Millisecond),
			(took.start + took.install + took.reconcile + took.stop).Round(time.Millisecond))
	}
}
