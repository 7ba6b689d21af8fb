// Package aggregation forwards requests to k8s.io/sample-apiserver, which trusts what the server publishes for it.
package aggregation

import (
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/sample-apiserver/pkg/cmd/server"

	"github.com/kubecascade/kubecascade/tests/process"
)

func TestMain(m *testing.M) { os.Exit(process.Run(m, nil)) }

// free returns an address that nothing listens on.
func free(t *testing.T) *net.TCPAddr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr)
}

// etcd starts an etcd server until the test ends, and returns its URL.
func etcd(t *testing.T) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir, c.LogLevel = t.TempDir(), "fatal"
	client, peer := url.URL{Scheme: "http", Host: free(t).String()}, url.URL{Scheme: "http", Host: free(t).String()}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return client.String()
}

// sample runs k8s.io/sample-apiserver until the test ends, and returns its port.
func sample(t *testing.T, kubeconfig string) int32 {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	port := free(t).Port
	c := server.NewCommandStartWardleServer(ctx, server.NewWardleServerOptions(io.Discard, io.Discard), true)
	c.SetArgs([]string{
		"--etcd-servers=" + etcd(t), "--secure-port=" + strconv.Itoa(port), "--bind-address=127.0.0.1",
		"--cert-dir=" + filepath.Join(t.TempDir(), "pki"), "--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
	})
	ended := make(chan error, 1)
	go func() { ended <- c.Execute() }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return int32(port)
}

// register makes APIServices of a service whose only endpoint is a port of this machine.
func register(ctx context.Context, t *testing.T, config *rest.Config, service string, port int32, names ...string) {
	t.Helper()
	core, ns, name, create := kubernetes.NewForConfigOrDie(config), "default", "https", metav1.CreateOptions{}
	ok := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(core.CoreV1().Services(ns).Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: service},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: name, Port: 443}}}}, create))
	ok(core.DiscoveryV1().EndpointSlices(ns).Create(ctx, &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"127.0.0.1"}}},
		Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}}}, create))
	services := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	for _, name := range names {
		version, group, _ := strings.Cut(name, ".")
		ok(services.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"group": group, "version": version, "groupPriorityMinimum": int64(1000),
				"versionPriority": int64(15), "insecureSkipTLSVerify": true,
				"service": map[string]any{"namespace": ns, "name": service}},
		}}, create))
	}
}

// until waits for a condition.
func until(ctx context.Context, t *testing.T, condition func() bool) {
	t.Helper()
	if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		return condition(), nil
	}); err != nil {
		t.Fatal(err)
	}
}

// checks returns a function that ends the test after an error.
func checks(t *testing.T) func(error) {
	return func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// wardle starts a server, and the sample server behind it.
func wardle(t *testing.T) (context.Context, *process.Server, *rest.Config) {
	s := process.Start(t, "--authorization-mode=RBAC")
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	checks(t)(err)
	config.QPS = -1
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	register(ctx, t, config, "wardle", sample(t, s.Kubeconfig), "v1alpha1.wardle.example.com")
	until(ctx, t, func() bool {
		_, err := of(config, "flunders", "default").List(ctx, metav1.ListOptions{})
		return err == nil // it may have started after the first checks
	})
	return ctx, s, config
}

// of returns the client of a resource in a namespace.
func of(config *rest.Config, resource, namespace string) dynamic.ResourceInterface {
	r := schema.GroupVersionResource{Version: "v1", Resource: resource}
	if resource == "flunders" {
		r.Group, r.Version = "wardle.example.com", "v1alpha1"
	}
	return dynamic.NewForConfigOrDie(config).Resource(r).Namespace(namespace)
}

// TestSampleAPIServer: its Flunders are served as by Kubernetes, go with their namespace, and are collected. There can be
// only one sample server in a process.
func TestSampleAPIServer(t *testing.T) {
	ctx, s, config := wardle(t)
	t.Run("served", func(t *testing.T) { served(ctx, t, s, config) })
	t.Run("collected", func(t *testing.T) { collected(ctx, t, config) })
	checks(t)(s.Stop()) // the end of the sample server waits for watches
}

func served(ctx context.Context, t *testing.T, s *process.Server, config *rest.Config) {
	core, flunders := kubernetes.NewForConfigOrDie(config), of(config, "flunders", "garden")
	ok, create := checks(t), metav1.CreateOptions{}
	garden := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
	_, err := core.CoreV1().Namespaces().Create(ctx, garden, create)
	ok(err)
	changes, err := flunders.Watch(ctx, metav1.ListOptions{})
	ok(err)
	defer changes.Stop()
	for _, name := range []string{"a", "b"} {
		_, err = flunders.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "wardle.example.com/v1alpha1", "kind": "Flunder", "metadata": map[string]any{"name": name},
		}}, create)
		ok(err)
	}
	list, err := flunders.List(ctx, metav1.ListOptions{})
	ok(err)
	if len(list.Items) != 2 {
		t.Errorf("%d flunders", len(list.Items))
	}
	s.Run(t, "why", "flunders/a", "--namespace=garden", "--from=server")
	quotas, flunderCount := core.CoreV1().ResourceQuotas("garden"), corev1.ResourceName("count/flunders.wardle.example.com")
	_, err = quotas.Create(ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{flunderCount: resource.MustParse("9")}}}, create)
	ok(err)
	until(ctx, t, func() bool {
		q, err := quotas.Get(ctx, "q", metav1.GetOptions{})
		ok(err)
		used := q.Status.Used[flunderCount]
		return used.Value() == 2
	})
	ok(flunders.Delete(ctx, "a", metav1.DeleteOptions{}))
	ok(core.CoreV1().Namespaces().Delete(ctx, "garden", metav1.DeleteOptions{}))
	for _, want := range []string{"ADDED a", "ADDED b", "DELETED a", "DELETED b"} {
		e := <-changes.ResultChan()
		o, _ := e.Object.(*unstructured.Unstructured)
		if o == nil || string(e.Type)+" "+o.GetName() != want {
			t.Fatalf("%v, not %s", e, want)
		}
	}
	until(ctx, t, func() bool {
		_, err := core.CoreV1().Namespaces().Get(ctx, "garden", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// collected: Flunders are owners and dependents as objects of this server are.
func collected(ctx context.Context, t *testing.T, config *rest.Config) {
	ok, maps, flunders := checks(t), of(config, "configmaps", "default"), of(config, "flunders", "default")
	create := func(in dynamic.ResourceInterface, name string, owners ...metav1.OwnerReference) metav1.OwnerReference {
		t.Helper()
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		if in == flunders {
			o.Object = map[string]any{"apiVersion": "wardle.example.com/v1alpha1", "kind": "Flunder"}
		}
		o.SetName(name)
		o.SetOwnerReferences(owners)
		o, err := in.Create(ctx, o, metav1.CreateOptions{})
		ok(err)
		return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: name, UID: o.GetUID(),
			BlockOwnerDeletion: new(true)}
	}
	for _, policy := range []metav1.DeletionPropagation{"Background", "Foreground", "Orphan"} {
		for _, at := range [][2]dynamic.ResourceInterface{{maps, flunders}, {flunders, maps}} {
			owner, dependent := strings.ToLower(string(policy)), "of-"+strings.ToLower(string(policy))
			create(at[1], dependent, create(at[0], owner))
			ok(at[0].Delete(ctx, owner, metav1.DeleteOptions{PropagationPolicy: &policy}))
			until(ctx, t, func() bool {
				_, err := at[0].Get(ctx, owner, metav1.GetOptions{})
				o, err2 := at[1].Get(ctx, dependent, metav1.GetOptions{})
				kept := err2 == nil && len(o.GetOwnerReferences()) == 0
				return apierrors.IsNotFound(err) && (policy == "Orphan" && kept || policy != "Orphan" && apierrors.IsNotFound(err2))
			})
		}
	}
}
