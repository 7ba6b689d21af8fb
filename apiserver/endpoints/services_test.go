package endpoints_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

const servicesPath = "/api/v1/namespaces/default/services"

// ranges are small ones.
func ranges(t *testing.T, addresses, ports string) allocate.Ranges {
	t.Helper()
	a, err := allocate.ParseAddresses(addresses)
	if err != nil {
		t.Fatal(err)
	}
	p, err := allocate.ParsePorts(ports)
	if err != nil {
		t.Fatal(err)
	}
	return allocate.Ranges{Addresses: a, Ports: p}
}

// TestServicesOfTwoServers: two servers with the same store allocate all addresses and ports, many at a time. Each is
// allocated once. Then the next create fails.
func TestServicesOfTwoServers(t *testing.T) {
	var config apiserver.Config
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Services = ranges(t, "10.7.0.0/27", "100-129") // 30 of each
		config = *c
	}})
	other, err := apiserver.New(config)
	if err != nil {
		t.Fatal(err)
	}
	path := registry.Path{Resource: s.Types.Lookup("", "v1", "services"), Namespace: "default"}
	create := func(api *apiserver.Server, name string) error {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}}}
		_, err := api.Loopback(authorization.Loopback, "test").Create(context.Background(), path, svc)
		return err
	}
	var wg sync.WaitGroup
	for i := range 15 {
		for name, api := range map[string]*apiserver.Server{"a": s.API, "b": other} {
			wg.Go(func() {
				if err := create(api, fmt.Sprintf("%s%d", name, i)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	seen := map[string]string{}
	for _, svc := range s.Do("GET", servicesPath, nil).List().Items {
		ip, _, _ := unstructured.NestedString(svc.Object, "spec", "clusterIP")
		ports, _, _ := unstructured.NestedSlice(svc.Object, "spec", "ports")
		for _, had := range []string{ip, fmt.Sprint(ports[0].(map[string]any)["nodePort"])} {
			if seen[had] != "" {
				t.Errorf("%s and %s both have %s", seen[had], svc.GetName(), had)
			}
			seen[had] = svc.GetName()
		}
	}
	if len(seen) != 60 {
		t.Errorf("%d addresses and ports were allocated, not 60", len(seen))
	}
	if err := create(s.API, "more"); err == nil {
		t.Error("a service was created without a free address or port")
	}
	must(t, s.Do("DELETE", servicesPath+"/a0", nil), http.StatusOK)
	if err := create(other, "more"); err != nil {
		t.Errorf("the address and port of a removed service are not allocated again: %v", err)
	}
}
