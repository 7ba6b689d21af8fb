package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cockroachdb/datadriven"

	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// TestServicesGetFreeAddressesAndPorts runs the scenarios in testdata. Random numbers are always 0. The commands print
// the allocated values, or the error:
//
//	ranges ADDRESSES PORTS       sets the cluster's ranges, and removes all services
//	create NAME [dry]            creates a service; the input is its spec in JSON
//	update NAME                  changes the spec; the input is JSON that is decoded into the stored spec
//	delete NAME
func TestServicesGetFreeAddressesAndPorts(t *testing.T) {
	datadriven.Walk(t, "testdata/service", func(t *testing.T, path string) {
		c := cluster{ranges: allocate.Defaults()}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			name := d.CmdArgs[0].Key
			switch d.Cmd {
			case "ranges":
				return c.reset(d.CmdArgs[0].Key, d.CmdArgs[1].Key)
			case "create":
				return c.write(t, name, nil, d.Input, d.HasArg("dry"))
			case "update":
				return c.write(t, name, c.services[name], d.Input, false)
			case "delete":
				delete(c.services, name)
				return ""
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

type cluster struct {
	ranges   allocate.Ranges
	services map[string]*corev1.Service
}

func (c *cluster) reset(addresses, ports string) string {
	c.services = map[string]*corev1.Service{}
	var err error
	if c.ranges.Addresses, err = allocate.ParseAddresses(addresses); err != nil {
		return err.Error()
	}
	if c.ranges.Ports, err = allocate.ParsePorts(ports); err != nil {
		return err.Error()
	}
	return fmt.Sprint(c.ranges.Addresses, " ", c.ranges.Ports.String())
}

func (c *cluster) taken() *allocate.Taken {
	taken := taken(c.ranges)
	for _, s := range c.services {
		taken.AddAddress(s.Spec.ClusterIP)
		addPorts(taken, &s.Spec)
	}
	return taken
}

// taken has no allocations.
func taken(r allocate.Ranges) *allocate.Taken {
	return allocate.NewTaken([]allocate.Addresses{r.Addresses}, r.Ports, func(int) int { return 0 })
}

// write processes a service as a server does, with the functions of this package.
func (c *cluster) write(t *testing.T, name string, old *corev1.Service, spec string, dry bool) string {
	t.Helper()
	s := &corev1.Service{}
	if old != nil {
		s = old.DeepCopy()
	}
	s.Name = name
	if strings.Contains(spec, `"ports"`) {
		s.Spec.Ports = nil // decoding into old ports would keep their fields
	}
	if err := json.Unmarshal([]byte(spec), &s.Spec); err != nil {
		t.Fatal(err)
	}
	DefaultService(s)
	keepAllocations(s, old)
	err := setFamilies(s, old)
	if err == nil {
		var from allocate.Source = c.taken()
		if dry {
			from = c.taken().Sample()
		}
		err = fillService(s, old, from)
	}
	if err != nil {
		return err.Error()
	}
	if !dry {
		c.services[name] = s
	}
	return shown(&s.Spec)
}

func shown(s *corev1.ServiceSpec) string {
	out := []string{string(s.Type)}
	add := func(name string, v any) { out = append(out, fmt.Sprintf("%s=%v", name, v)) }
	if s.ClusterIP != "" || len(s.ClusterIPs) > 0 {
		add("ip", s.ClusterIP)
		add("ips", s.ClusterIPs)
	}
	if s.IPFamilyPolicy != nil {
		add("families", s.IPFamilies)
		add("policy", *s.IPFamilyPolicy)
	}
	if p := nodePorts(s); p != nil {
		add("ports", p)
	}
	if s.HealthCheckNodePort != 0 {
		add("check", s.HealthCheckNodePort)
	}
	return strings.Join(out, " ")
}

// TestErrorsOfManyFamiliesAreLimited: the errors of 60,000 address families are limited.
func TestErrorsOfManyFamiliesAreLimited(t *testing.T) {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	for range 60_000 {
		s.Spec.IPFamilies = append(s.Spec.IPFamilies, corev1.IPv6Protocol)
	}
	err := setFamilies(s, nil)
	var status apierrors.APIStatus
	if !errors.As(err, &status) || len(status.Status().Details.Causes) > invalid.MaxErrors {
		t.Fatalf("%d bytes: not a response with at most %d causes", len(fmt.Sprint(err)), invalid.MaxErrors)
	}
}

// TestDryRunOfManyPortsTakesLinearTime: the time of a dry run does not grow with the square of the number of ports.
func TestDryRunOfManyPortsTakesLinearTime(t *testing.T) {
	s := &corev1.Service{Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeNodePort, ClusterIP: corev1.ClusterIPNone, ClusterIPs: []string{corev1.ClusterIPNone},
	}}
	for i := range int32(150_000) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Port: i + 1})
	}
	start := time.Now()
	err := fillService(s, nil, taken(allocate.Defaults()).Sample())
	if took := time.Since(start); err != nil || took > 15*time.Second {
		t.Errorf("%v, %v", took, err)
	}
	if first, last := s.Spec.Ports[0].NodePort, s.Spec.Ports[149_999].NodePort; first != 32769 || last != 32769+149_999 {
		t.Errorf("from %d to %d", first, last)
	}
}
