package endpoints_test

import (
	"bufio"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// TestRules sends the requests of testdata/rules to a new server for each file, with its clock stopped, and compares
// the responses. The files cite the rules of docs/semantics.md that they show.
//
//	http
//	POST /api/v1/namespaces/default/configmaps
//	Content-Type: application/json
//	{"metadata": {"name": "a"}}
//	----
//	201
//	{...}
//
// In a request, «3 ,{"a": %d}» is replaced by three copies of the text, with the numbers from 0 on for %d, and without
// the first comma.
//
// Revisions are those that etcd counts. The first uid in a file's output is printed as uid-1, the next as uid-2.
// Requests may use these names. The output has the headers that clients use. Its objects have no managedFields, which
// package fieldmanager tests, unless the command is "http managed". The output of "http code" is only the code. Other
// commands:
//
//	watch n=2	the input is a request like that of http, the output the first events
//	put KEY		the input is stored under the key
//	stored KEY	the output is the value of the key
//	server		first of all: with "gate", requests may delete objects that can't be decoded;
//			sequential is Sequential, for a file with long requests; ranges=(10.7.0.0/30, 100-101) are those
//			of services; versions=(batch/v1=false) is --runtime-config; plugins=(PLUGIN) is
//			--enable-admission-plugins; secured is StartSecured: requests with the header Authorization go to
//			its secure port
func TestRules(t *testing.T) {
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		t.Parallel()
		o := &apiservertest.Options{Kinds: resources.Metrics(half)}
		var services allocate.Ranges
		malformed, plugins := false, []string(nil)
		var secured *apiservertest.Secured
		o.Configure = func(c *apiserver.Config) {
			c.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC) }
			c.DeleteMalformed, c.Services, c.EnableAdmission, c.ServeFaults = malformed, services, plugins, true
		}
		start := sync.OnceValue(func() *apiservertest.Server { return apiservertest.Start(t, o) })
		u := &uids{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "server":
				for _, a := range d.CmdArgs {
					switch a.Key {
					case "gate":
						malformed = true
					case "secured":
						secured = apiservertest.StartSecuredWith(t, *o)
						start = func() *apiservertest.Server { return secured.Server }
					case "sequential":
						apiservertest.Sequential(t)
					case "ranges":
						services = ranges(t, a.Vals[0], a.Vals[1])
					case "plugins":
						plugins = a.Vals
					case "versions":
						o.Serving = serving(t, a.Vals...)
					}
				}
			case "stored":
				r, err := start().Store.Get(t.Context(), d.CmdArgs[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				return u.shown(managedFields.ReplaceAllString(string(r.Value), ""))
			case "put":
				start().Put(t, d.CmdArgs[0].Key, u.given(d.Input))
			case "watch":
				return u.shown(events(t, start(), d, u.given(d.Input)))
			default:
				method, path, body, header := parseRequest(t, u.given(d.Input))
				do := start().Do
				if slices.Contains(header, "Authorization") {
					do = secured.Ask
				}
				a := do(method, path, body, header...)
				if d.HasArg("code") {
					return fmt.Sprintln(a.Code)
				}
				return u.shown(printed(a, d.HasArg("managed")))
			}
			return ""
		})
	})
}

// events returns the first events of a watch, one on each line.
func events(t *testing.T, s *apiservertest.Server, d *datadriven.TestData, request string) string {
	t.Helper()
	var n int
	d.ScanArgs(t, "n", &n)
	_, path, _, header := parseRequest(t, request)
	w := s.Watch(path, header...)
	defer w.Close()
	lines := bufio.NewReader(w.Body())
	var b strings.Builder
	for range n {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(managedFields.ReplaceAllString(line, ""))
	}
	return b.String()
}

var headerLine = regexp.MustCompile(`^([A-Z][A-Za-z-]+): (.*)$`)

// parseRequest reads a request line, headers, and a body.
func parseRequest(t *testing.T, input string) (method, path, body string, header []string) {
	t.Helper()
	lines := strings.Split(input, "\n")
	method, path, ok := strings.Cut(lines[0], " ")
	if !ok {
		t.Fatalf("no request line: %q", lines[0])
	}
	for lines = lines[1:]; len(lines) > 0; lines = lines[1:] {
		m := headerLine.FindStringSubmatch(lines[0])
		if m == nil {
			break
		}
		header = append(header, m[1], m[2])
	}
	return method, path, strings.Join(lines, "\n"), header
}

// printed prints a response.
func printed(a apiservertest.Answer, managed bool) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.Code)
	for _, h := range []string{"Warning", "Retry-After"} {
		for _, v := range a.Header.Values(h) {
			fmt.Fprintf(&b, "%s: %s\n", h, v)
		}
	}
	if c := a.Header.Get("Content-Type"); c != "application/json" {
		fmt.Fprintf(&b, "Content-Type: %s\n", c)
	}
	body := managedTime.ReplaceAllString(string(a.Body), "")
	if !managed {
		body = managedFields.ReplaceAllString(body, "")
	}
	b.WriteString(body)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// managedFields matches the list with its comma. No string in it contains the end of a list of objects.
var managedFields = regexp.MustCompile(`,\\*"managedFields\\*":\[\{.*?\}\]`) // quoted in messages too

// managedTime matches the time of an entry, which is from the machine's clock.
var managedTime = regexp.MustCompile(`,"time":"[^"]*"`)

var uuidText = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// uids names the uids of a file in the order of the output.
type uids struct{ known []string }

func (u *uids) shown(s string) string {
	return uuidText.ReplaceAllStringFunc(s, func(id string) string {
		for i, k := range u.known {
			if k == id {
				return fmt.Sprintf("uid-%d", i+1)
			}
		}
		u.known = append(u.known, id)
		return fmt.Sprintf("uid-%d", len(u.known))
	})
}

func (u *uids) given(s string) string {
	for i := len(u.known) - 1; i >= 0; i-- {
		s = strings.ReplaceAll(s, fmt.Sprintf("uid-%d", i+1), u.known[i])
	}
	return repetition.ReplaceAllStringFunc(s, func(match string) string {
		m := repetition.FindStringSubmatch(match)
		n, _ := strconv.Atoi(m[1])
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(m[2], "%d", strconv.Itoa(i)))
		}
		return strings.TrimPrefix(b.String(), ",")
	})
}

var repetition = regexp.MustCompile(`«(\d+) ([^»]*)»`)

// half returns metrics of a pod on a node: a usage of 500m, over seven seconds.
func half(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics {
	if p.Spec.NodeName == "" {
		return nil
	}
	return &metricsv1beta1.PodMetrics{Timestamp: metav1.NewTime(now), Window: metav1.Duration{Duration: 7 * time.Second},
		Containers: []metricsv1beta1.ContainerMetrics{{Name: p.Spec.Containers[0].Name, Usage: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Mi")}}}}
}
