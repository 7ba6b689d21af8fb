package dynamic_test

import (
	"fmt"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// BenchmarkPolicy: creates of a pod, without policies and with ten that match and allow it. The target is that a policy
// adds no more than 60 µs.
func BenchmarkPolicy(b *testing.B) {
	var none float64
	for _, n := range []int{0, 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := apiservertest.Start(b, nil)
			send := func(path, body string) {
				if a := s.Do("POST", path, body); a.Code != 201 {
					b.Fatalf("%s: %d %s", path, a.Code, a.Body)
				}
			}
			for i := range n {
				name := fmt.Sprint("p", i)
				send(hookConfigs+"validatingadmissionpolicies", policyOf("Validating", name,
					`{"resourceRules":[`+rule("CREATE UPDATE", "", "v1", "pods")+`]}`,
					valid("object.spec.containers.all(c, !c.image.endsWith(':latest'))",
						"!has(object.metadata.labels) || !('forbidden' in object.metadata.labels)")))
				send(hookConfigs+"validatingadmissionpolicybindings", bindingOf("Validating", name, name))
			}
			body := pod("p", "a=b")
			b.ReportAllocs()
			for b.Loop() {
				send(pods+"?dryRun=All", body)
			}
			each := float64(b.Elapsed().Microseconds()) / float64(b.N)
			if n == 0 {
				none = each
				return
			}
			b.ReportMetric((each-none)/float64(n), "µs/policy")
		})
	}
}
