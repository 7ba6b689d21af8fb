// Command probe-policies runs upstream's plugins for admission policies, and prints what they answer.
package main

import (
	"fmt"
	"io"
	"time"

	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/klog/v2"
)

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	defer generic.SetPolicyRefreshIntervalForTests(20 * time.Millisecond)()
	fmt.Println("===== ValidatingAdmissionPolicy")
	for _, c := range validatingCases {
		c.run()
	}
	fmt.Println("===== MutatingAdmissionPolicy")
	for _, c := range mutatingCases {
		c.run()
	}
}
