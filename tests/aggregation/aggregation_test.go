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

// TestSampleAPIServer: its Flunders are served as by Kubernetes, and go with their namespace.
func TestSampleAPIServer(t *testing.T) {
	s := process.Start(t, "--authorization-mode=RBAC")
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	core, objects := kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	create := metav1.CreateOptions{}
	register(ctx, t, config, "wardle", sample(t, s.Kubeconfig), "v1alpha1.wardle.example.com")
	flunders := objects.Resource(schema.GroupVersionResource{
		Group: "wardle.example.com", Version: "v1alpha1", Resource: "flunders"}).Namespace("garden")
	until(ctx, t, func() bool {
		_, err := flunders.List(ctx, metav1.ListOptions{}) // it may have started after the first checks
		return err == nil
	})
	garden := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
	_, err = core.CoreV1().Namespaces().Create(ctx, garden, create)
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
	s.Run(t, "why", "flunders/a", "--namespace=garden")
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
