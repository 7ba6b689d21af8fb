package controllers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// TestAPIServicesFollowUpstreamsTable runs testdata/apiservices/decide: every line is a case,
//
//	HAVE WANT [stored] [kept]
//
// where HAVE and WANT are none, or who keeps the APIService (nobody, onstart, true) with another spec if a
// star follows; the output is what is done.
func TestAPIServicesFollowUpstreamsTable(t *testing.T) {
	datadriven.RunTest(t, "testdata/apiservices/decide", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for _, line := range strings.Split(d.Input, "\n") {
			f := strings.Fields(line)
			p := past{stored: strings.Contains(line, " stored"), kept: strings.Contains(line, " kept")}
			fmt.Fprintf(&b, "%s: %v\n", line, moveOf(kept(f[0]), kept(f[1]), p))
		}
		return b.String()
	})
}

func kept(text string) *apiregistrationv1.APIService {
	if text == "none" {
		return nil
	}
	s := &apiregistrationv1.APIService{}
	by, other := strings.CutSuffix(text, "*")
	s.Labels = map[string]string{automanaged: by}
	if s.Spec.VersionPriority = 15; other {
		s.Spec.VersionPriority = 1
	}
	return s
}
