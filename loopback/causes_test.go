package loopback_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestErrorsHaveUpstreamsCauses: errors of definitions and of objects have upstream's causes.
//
//	define: the input is the spec of widgets.example.com's only version; answer: what POST says.
//	versions: the input is what follows the names in a definition.
//	create, update: the input is what an object has besides its name, or items of a list.
func TestErrorsHaveUpstreamsCauses(t *testing.T) {
	apiservertest.Sequential(t)
	datadriven.Walk(t, "testdata/definitions", func(t *testing.T, path string) {
		s := defined(t, nil)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "define", "versions":
				rest := d.Input
				if d.Cmd == "define" {
					rest = `"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` +
						d.Input + `}}]`
				}
				w := s.Watch(definitions + "?watch=1")
				if a := s.Do("GET", definitions+"/widgets.example.com", nil); a.Code == 200 {
					do(t, s, "DELETE", definitions+"/widgets.example.com", "")
					gone(t, w, "widgets.example.com")
				}
				a := s.Do(
					"POST", definitions,
					`{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","names":{"plural":"widgets","kind":"Widget"},`+rest+`}}`,
				)
				if a.Code == 201 {
					reaches(t, w, "widgets.example.com", isEstablished)
				}
				return said(a)
			case "create":
				if d.HasArg("items") {
					var n int
					d.ScanArgs(t, "items", &n)
					d.Input = `"spec":{"l":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`
				}
				return said(s.Do(
					"POST", v1widgets,
					`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+d.CmdArgs[0].Key+`"},`+d.Input+`}`,
				))
			case "update":
				return said(s.Do("PATCH", v1widgets+"/"+d.CmdArgs[0].Key, d.Input))
			case "schema":
				do(t, s, "PATCH", definitions+"/widgets.example.com", d.Input)
				return "ok"
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

// said returns an answer's code, and of a failure the message and the causes.
func said(a apiservertest.Answer) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.Code)
	var st metav1.Status
	if a.Code < 300 || json.Unmarshal(a.Body, &st) != nil {
		return b.String()
	}
	if st.Details == nil || len(st.Details.Causes) == 0 {
		fmt.Fprintln(&b, st.Message)
		return b.String()
	}
	var causes []string
	for _, c := range st.Details.Causes { // schemas' properties are looked at in any order
		causes = append(causes, fmt.Sprintf("%s %s: %s\n", c.Type, c.Field, c.Message))
	}
	slices.Sort(causes)
	return b.String() + strings.Join(causes, "")
}
