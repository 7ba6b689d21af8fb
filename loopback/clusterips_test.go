package loopback_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
)

const (
	services     = "/api/v1/namespaces/default/services"
	ipAddresses  = "/apis/networking.k8s.io/v1/ipaddresses"
	serviceCIDRs = "/apis/networking.k8s.io/v1/servicecidrs"
)

// TestClusterIPs: addresses come from all ServiceCIDRs that are ready, each has an IPAddress, and a ServiceCIDR that is
// in use outlives its deletion.
func TestClusterIPs(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Services.Addresses, _ = allocate.ParseAddresses("10.7.0.0/30")
	}})
	addresses, cidrs := s.Watch(ipAddresses+"?watch=1"), s.Watch(serviceCIDRs+"?watch=1")
	if err := s.API.EnsureFirst(t.Context(), bootstrap.Options{SecurePort: 6443}); err != nil {
		t.Fatal(err)
	}
	sees(t, cidrs, "kubernetes", condition("Ready", "True", ""))
	starts(t, s, "service-cidr-controller", "ipallocator-repair-controller")
	sees(t, addresses, "10.7.0.1", has("spec.parentRef.name", "kubernetes"))
	service := func(name, ip, want string) string {
		t.Helper()
		a := s.Do("POST", services,
			`{"metadata":{"name":"`+name+`"},"spec":{"clusterIP":"`+ip+`","ports":[{"port":80}]}}`)
		if want != "" {
			if a.Code < 400 || !strings.Contains(a.Object().Object["message"].(string), want) {
				t.Fatalf("service %s: %d %s, want %q", name, a.Code, a.Body, want)
			}
			return ""
		}
		if a.Code != 201 {
			t.Fatalf("service %s: %d %s", name, a.Code, a.Body)
		}
		got, _, _ := unstructured.NestedString(a.Object().Object, "spec", "clusterIP")
		return got
	}
	if ip := service("a", "", ""); ip != "10.7.0.2" {
		t.Errorf("a has %s", ip)
	}
	service("b", "", "failed to allocate a serviceIP: range is full")
	service("b", "10.8.0.1", "failed to allocate IP 10.8.0.1: the provided network does not match the current range")

	do(t, s, "POST", serviceCIDRs, `{"metadata":{"name":"extra"},"spec":{"cidrs":["10.8.0.0/30"]}}`)
	sees(t, cidrs, "extra", condition("Ready", "True", ""))
	do(t, s, "POST", ipAddresses, `{"metadata":{"name":"10.8.0.1"},"spec":{"parentRef":{"group":"gateway.networking.k8s.io",
		"resource":"gateways","namespace":"default","name":"g"}}}`)
	service("b", "10.8.0.1", "failed to allocate IP 10.8.0.1: provided IP is already allocated")
	if ip := service("b", "", ""); ip != "10.8.0.2" {
		t.Errorf("b has %s", ip)
	}
	sees(t, addresses, "10.8.0.2", has("spec.parentRef.name", "b"))
	do(t, s, "DELETE", ipAddresses+"/10.8.0.1", "")
	do(t, s, "DELETE", serviceCIDRs+"/extra", "")
	sees(t, cidrs, "extra", condition("Ready", "False", "Terminating"))
	service("c", "10.8.0.1", "failed to allocate IP 10.8.0.1: the provided network does not match the current range")

	do(t, s, "DELETE", ipAddresses+"/10.8.0.2", "")
	gone(t, addresses, "10.8.0.2")
	sees(t, addresses, "10.8.0.2", has("spec.parentRef.name", "b"))
	do(t, s, "DELETE", services+"/b", "")
	gone(t, addresses, "10.8.0.2")
	gone(t, cidrs, "extra")

	do(t, s, "PATCH", services+"/a", `{"spec":{"type":"ExternalName","externalName":"x.y"}}`)
	gone(t, addresses, "10.7.0.2")
}
