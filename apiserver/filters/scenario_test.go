package filters_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/kubecascade/kubecascade/apiserver"
)

// TestScenarios sends the requests of testdata to secured servers and compares the responses:
//
//	alice
//	POST /apis/authentication.k8s.io/v1/selfsubjectreviews
//	Impersonate-User: bob
//	{}
//	----
//	201
//	{"userInfo":{"username":"bob"}}
//
// The command is a user of the secure port. The user "anonymous" has no token; "local" is the insecure port's client.
// The output has the code, and the message of an error, the names of a list or the status of a review. Other commands:
//
//	server	starts a server. Its arguments are modes=(RBAC,AlwaysAllow), anonymous=false and admission=PLUGIN; its input
//		is an audit policy, with which each response is followed by its audit events
//	grant	grants the rules to a user, as Secured.Grant: user=alice namespace=a name=reader
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s *secured
		var log *events
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "server":
				if log = nil; d.Input != "" {
					s, log = audited(t, d.Input, nil)
				} else {
					s = start(t, func(c *apiserver.Config) { configureBy(d, c) })
				}
			case "grant":
				var user, namespace, name string
				d.ScanArgs(t, "user", &user)
				d.ScanArgs(t, "name", &name)
				d.MaybeScanArgs(t, "namespace", &namespace)
				s.Grant(user, namespace, name, d.Input)
			default:
				return s.response(d, log)
			}
			return ""
		})
	})
}

// configureBy sets the options in the arguments of the command "server".
func configureBy(d *datadriven.TestData, c *apiserver.Config) {
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "modes":
			c.Modes = a.Vals
		case "anonymous":
			c.Anonymous = a.Vals[0] != "false"
		case "admission":
			c.EnableAdmission = a.Vals
		}
	}
}

var (
	headerLine = regexp.MustCompile(`^[A-Z][^ "]*: `)
	// random matches UIDs, times, ages in Tables, and resource versions.
	random = regexp.MustCompile(
		`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{4}-[0-9-]{5}T[0-9:]+Z|"[0-9]+s"|("resourceVersion":)"[0-9]+"`)
)

// response sends a request and prints the response and its audit events.
func (s *secured) response(d *datadriven.TestData, log *events) string {
	s.T.Helper()
	s.Settle()
	lines := strings.Split(d.Input, "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	id := "at " + d.Pos
	header := []string{"Audit-Id", id}
	for lines = lines[1:]; len(lines) > 0 && headerLine.MatchString(lines[0]); lines = lines[1:] {
		name, value, _ := strings.Cut(lines[0], ": ")
		header = append(header, name, value)
	}
	ask := s.Ask
	switch d.Cmd {
	case "anonymous":
	case "local":
		ask = s.Do
	default:
		header = append(header, "Authorization", "Bearer "+d.Cmd+"-token")
	}
	a := ask(method, path, strings.Join(lines, "\n"), header...)
	var b strings.Builder
	fmt.Fprintln(&b, a.Code)
	switch o := a.Object(); {
	case a.Code >= 300 && a.Status().Message != "":
		fmt.Fprintln(&b, a.Status().Message)
	case strings.HasSuffix(o.GetKind(), "Review"):
		status, err := json.Marshal(o.Object["status"])
		if err != nil {
			s.T.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", status)
	case o.IsList():
		for _, item := range a.List().Items {
			fmt.Fprintln(&b, item.GetName())
		}
	}
	if log != nil {
		s.As("admin", "GET", "/api", nil, "Audit-Id", "after "+id) // its events are the last ones
		log.of(s.T, "after "+id, 1)
		for _, e := range log.of(s.T, id, 0) {
			b.WriteString(printed(e))
		}
	}
	return random.ReplaceAllString(b.String(), "${2}*")
}

// printed formats the fields of an audit event that describe the request.
func printed(e auditv1.Event) string {
	text := strings.TrimSpace(line(e))
	if e.ResponseStatus != nil && e.ResponseStatus.Message != "" {
		text += ": " + e.ResponseStatus.Message
	}
	if o := e.ObjectRef; o != nil && o.UID != "" {
		text += fmt.Sprintf("\nUID: %s", o.UID)
	}
	if o := e.RequestObject; o != nil {
		text += fmt.Sprintf("\nrequest: %s", o.Raw)
	}
	if o := e.ResponseObject; o != nil {
		text += fmt.Sprintf("\nresponse: %s", o.Raw)
	}
	if u := e.ImpersonatedUser; u != nil {
		text += fmt.Sprintf("\nas %s of %s by %s", u.Username, u.Groups, e.AuthenticationMetadata.ImpersonationConstraint)
	}
	for _, k := range slices.Sorted(maps.Keys(e.Annotations)) {
		if k != "apiserver.latency.k8s.io/total" { // only on a slow machine
			text += fmt.Sprintf("\n%s: %q", k, e.Annotations[k])
		}
	}
	return text + "\n"
}
