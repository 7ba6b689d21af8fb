package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// secured is a server with RBAC that answers questions.
type secured struct {
	*apiservertest.Secured
	others []metav1.APIResource
	stale  []schema.GroupVersion
	far    far
	before func() // is called before each answer of an aggregated server
}

func startSecured(t *testing.T, change func(*cluster.Service)) *secured {
	t.Helper()
	s := &secured{}
	s.Secured = apiservertest.StartSecured(t, func(c *apiserver.Config) {
		service := (&cluster.Server{
			Cache: c.Cache, Types: c.Types, Revision: c.Store.Revision,
			Authorizer: func() authorization.Authorizer { return s.API.Authorizer() },
			Others:     func() ([]metav1.APIResource, []schema.GroupVersion) { return s.others, s.stale },
			As:         func(u authorization.User) *http.Client { return &http.Client{Transport: as{s, u.Name}} },
		}).Service()
		if change != nil {
			change(service)
		}
		c.Extensions = service.Routes()
	})
	return s
}

// create creates an object with owners, which are JSON, and returns its uid.
func (s *secured) create(path, name, meta string) string {
	s.T.Helper()
	a := s.Want(201, "POST", path, `{"metadata":{"name":"`+name+`"`+meta+`}}`)
	return string(a.Object().GetUID())
}

func ownedBy(kind, name, uid string) string {
	return fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"v1","kind":%q,"name":%q,"uid":%q}]`, kind, name, uid)
}

// example has the config map o in namespace a, which owns the config map d and the secret e.
func (s *secured) example() (uid string) {
	s.T.Helper()
	uid = s.create("/api/v1/namespaces/a/configmaps", "o", "")
	s.create("/api/v1/namespaces/a/configmaps", "d", ownedBy("ConfigMap", "o", uid)+`,"labels":{"x":"y"}`)
	s.create("/api/v1/namespaces/a/secrets", "e", ownedBy("ConfigMap", "o", uid))
	return uid
}

// decode decodes an answer that must be there.
func decode[T any](t *testing.T, a apiservertest.Answer) *T {
	t.Helper()
	out := new(T)
	if err := json.Unmarshal(a.Body, out); a.Code != http.StatusOK || err != nil {
		t.Fatalf("%d %s: %v", a.Code, a.Body, err)
	}
	return out
}

const (
	paths = `{"nonResourceURLs":["/kubecascade/v1","/kubecascade/v1/*"],"verbs":["get","post"]}`
	o     = "?resource=configmaps&namespace=a&name=o"
)

// TestAuthorization: the paths are non-resource URLs, and resources that the user may not list are neither shown nor
// followed.
func TestAuthorization(t *testing.T) {
	s := startSecured(t, nil)
	s.example()
	for user, code := range map[string]int{"admin": 200, "alice": 403, "unknown": 401} {
		for _, path := range []string{"/kubecascade/v1", "/kubecascade/v1/tree" + o, "/kubecascade/v1/preview" + o} {
			if a := s.As(user, "GET", path, ""); a.Code != code {
				t.Errorf("%s: GET %s: %d %s", user, path, a.Code, a.Body)
			}
		}
	}
	s.Grant("alice", "", "ask", `[`+paths+`]`)
	if a := s.As("alice", "GET", "/kubecascade/v1/tree"+o, ""); a.Code != 403 ||
		!strings.Contains(a.Status().Message, `cannot list resource "configmaps" in API group "" in the namespace "a"`) {
		t.Errorf("of a config map that can't be listed: %d %s", a.Code, a.Body)
	}
	s.Grant("alice", "a", "read", `[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]`)
	tree := decode[explain.Tree](t, s.As("alice", "GET", "/kubecascade/v1/tree"+o, ""))
	if len(tree.Object.Dependents) != 1 || tree.Object.Dependents[0].Object.Name != "d" {
		t.Errorf("alice sees\n%s", tree.Text(explain.Style{}))
	}
	hidden := map[string]string{}
	for _, h := range tree.Hidden {
		hidden[h.Resource] = h.Why
	}
	if hidden["secrets"] != "you may not list them" || hidden["configmaps"] != "you may list those of namespace a only" {
		t.Errorf("hidden: %v", hidden)
	}
	if v := tree.Object.Dependents[0].Verdict; v != graph.Solid.String() {
		t.Errorf("the owner, which alice may list, is %s", v)
	}
	preview := decode[explain.Preview](t, s.As("alice", "GET", "/kubecascade/v1/preview"+o, ""))
	if len(preview.Changes) != 2 || len(preview.Dangling) != 0 {
		t.Errorf("alice previews\n%s", preview.Text(explain.Style{}))
	}
	whole := decode[explain.Tree](t, s.As("admin", "GET", "/kubecascade/v1/tree"+o, ""))
	if len(whole.Object.Dependents) != 2 || len(whole.Hidden) != 0 {
		t.Errorf("admin sees\n%s", whole.Text(explain.Style{}))
	}
	for _, path := range []string{ // by the uid of a hidden object, and in another namespace
		"/kubecascade/v1/tree?namespace=a&uid=" + whole.Object.Dependents[1].Object.UID,
		"/kubecascade/v1/tree?uid=" + whole.Object.Object.UID,
	} {
		if a := s.As("alice", "GET", path, ""); a.Code != 404 {
			t.Errorf("alice: %s: %d %s", path, a.Code, a.Body)
		}
	}
}

// TestDeletionQuestions: objects are named by names, by a selector or in a body; nothing is written.
func TestDeletionQuestions(t *testing.T) {
	s := startSecured(t, nil)
	uid := s.example()
	before := s.Revision()
	for _, c := range []struct {
		method, query, body string
		want                string
	}{
		{"GET", o, "", "o deleted, d deleted, e deleted"},
		{"GET", o + "&propagationPolicy=Orphan", "", "o Terminating, d OwnersRemoved, e OwnersRemoved, o deleted"},
		{"GET", o + "&uid=" + uid, "", "o deleted, d deleted, e deleted"},
		{"GET", "?uid=" + uid, "", "o deleted, d deleted, e deleted"},
		{"GET", "?apiVersion=v1&kind=ConfigMap&namespace=a&name=d", "", "d deleted"},
		{"GET", "?resource=cm&namespace=a&labelSelector=x%3Dy", "", "d deleted"},
		{"GET", "?resource=cm&namespace=a&labelSelector=x%3Dz", "", ""},
		{"GET", "?resource=cm&namespace=a&name=d&name=o", "", "d deleted, o deleted, e deleted"},
		{"POST", "?labelSelector=x%3Dy", `{"objects":[{"resource":"secrets"},{"resource":"cm"}]}`, "d deleted"},
		{"POST", "", `{"objects":[{"resource":"secrets","namespace":"a","name":"e"},{"uid":"` + uid + `"}],
			"propagationPolicy":"Orphan"}`, "e Terminating, o Terminating, e deleted, d OwnersRemoved, o deleted"},
	} {
		p := decode[explain.Preview](t, s.As("admin", c.method, "/kubecascade/v1/preview"+c.query, c.body))
		var changes []string
		for _, one := range p.Changes {
			if one.What != explain.Freed {
				changes = append(changes, one.Object.Name+" "+strings.Replace(string(one.What), "Deleted", "deleted", 1))
			}
		}
		if got := strings.Join(changes, ", "); got != c.want {
			t.Errorf("%s %s %s: %s; expected %s", c.method, c.query, c.body, got, c.want)
		}
		if p.Revision != before {
			t.Errorf("the answer is of revision %d, expected %d", p.Revision, before)
		}
	}
	if now := s.Revision(); now != before {
		t.Errorf("previews have written: revision %d after %d", now, before)
	}
}

// TestIgnoreNotFound: objects that don't exist are left out of a preview and named, if the question says so.
func TestIgnoreNotFound(t *testing.T) {
	s := startSecured(t, nil)
	s.example()
	const path = "/kubecascade/v1/preview?ignoreNotFound=true"
	p := decode[explain.Preview](t, s.As("admin", "GET", path+"&resource=cm&namespace=a&name=x&name=d", ""))
	absent := graph.Key{Collection: "configmaps", Namespace: "a", Name: "x"}
	if len(p.Changes) != 1 || p.Changes[0].Object.Name != "d" || !slices.Equal(p.Absent, []graph.Key{absent}) {
		t.Errorf("%+v", p)
	}
	p = decode[explain.Preview](t, s.As("admin", "POST", path,
		`{"objects":[{"resource":"configmaps","namespace":"a","name":"x"}]}`))
	if len(p.Changes) != 0 || !slices.Equal(p.Absent, []graph.Key{absent}) {
		t.Errorf("%+v", p)
	}
	for query, code := range map[string]int{
		"?ignoreNotFound=true&uid=x": 404, "?ignoreNotFound=perhaps&uid=x": 400,
		"?ignoreNotFound=false&resource=cm&namespace=a&name=x": 404, "?ignoreNotFound=true&resource=dragons&name=x": 404,
	} {
		if a := s.As("admin", "GET", "/kubecascade/v1/preview"+query, ""); a.Code != code {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
}

// TestAnswersNameWebhooks: answers name the webhooks that are asked, as they are stored at their revision, and only to
// users that may list them.
func TestAnswersNameWebhooks(t *testing.T) {
	s := startSecured(t, nil)
	s.example()
	const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	configuration := func(meta, selector string) string {
		return `{"metadata":{"name":"w"` + meta + `},"webhooks":[{"name":"w.example.com","sideEffects":"None",
			"admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"a","name":"absent"}},
			"objectSelector":` + selector + `,
			"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["DELETE"]}]}]}`
	}
	made := s.Want(201, "POST", configurations, configuration("", `{"matchLabels":{"x":"y"}}`)).Object()
	asked := func(user string) (all []string) {
		t.Helper()
		p := decode[explain.Preview](t, s.As(user, "GET", "/kubecascade/v1/preview"+o, ""))
		for _, a := range p.Admission {
			all = append(all, fmt.Sprintf("%s %s %v %s", a.Webhook, a.Operation, a.Resources, a.Unreachable))
		}
		return all
	}
	const one = "w.example.com DELETE map[configmaps:1] service a/absent does not exist"
	if got := asked("admin"); !slices.Equal(got, []string{one}) {
		t.Errorf("%q", got)
	}
	s.Grant("alice", "", "ask", `[`+paths+`,{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]`)
	why := decode[explain.Reason](t, s.As("alice", "GET", "/kubecascade/v1/why"+o, ""))
	hidden := explain.Hidden{
		Resource: "validatingwebhookconfigurations.admissionregistration.k8s.io", Why: "you may not list them",
	}
	if got := asked("alice"); len(got) > 0 || !slices.Contains(why.Hidden, hidden) {
		t.Errorf("alice: %q, hidden %v", got, why.Hidden)
	}
	s.Want(200, "PUT", configurations+"/w", configuration(`,"resourceVersion":"`+made.GetResourceVersion()+`"`, `{}`))
	if got, want := asked("admin"), strings.Replace(one, ":1", ":2", 1); !slices.Equal(got, []string{want}) {
		t.Errorf("%q, expected %q", got, want)
	}
	s.Want(200, "DELETE", configurations+"/w", nil)
	if got := asked("admin"); len(got) > 0 {
		t.Errorf("of a deleted configuration: %q", got)
	}
}

// TestWrongQuestionsHaveAStatus: an error in a question is reported as a Status.
func TestWrongQuestionsHaveAStatus(t *testing.T) {
	s := startSecured(t, nil)
	s.example()
	many := strings.Repeat(`{"uid":"u"},`, cluster.MostDeletions)
	for _, c := range []struct {
		method, path, body string
		code               int
		message            string
	}{
		{"GET", "tree", "", 400, "an object is required"},
		{"GET", "tree?resource=configmaps&name=o", "", 400, "a namespace is required"},
		{"GET", "tree?resource=dragons&name=o", "", 404, "resource type"},
		{"GET", "tree?resource=componentstatuses&name=o", "", 405, "objects of componentstatuses are not stored"},
		{"GET", "preview?resource=componentstatuses&labelSelector=a", "", 405, "are not stored"},
		{"GET", "preview?resource=componentstatuses&name=o&ignoreNotFound=true", "", 405, "are not stored"},
		{"GET", "tree?resource=cm&kind=ConfigMap&namespace=a&name=o", "", 400, "can't both be used"},
		{"GET", "tree?resource=cm&namespace=a&name=", "", 400, "name must be provided"},
		{"GET", "tree?resource=cm&namespace=a&name=x", "", 404, `configmaps "x" not found`},
		{"GET", "tree?resource=cm&namespace=a&name=o&name=d", "", 400, "more than once"},
		{"GET", "tree?resource=cm&namespace=a&name=o&propagationPolicy=Orphan", "", 400, "unknown query parameter"},
		{"GET", "why?resource=cm&namespace=a&name=o&uid=other", "", 409, "the UID in the precondition is other"},
		{"GET", "why?uid=other", "", 404, "not found"},
		{"GET", "preview?resource=cm&namespace=a&name=o&propagationPolicy=Never", "", 400, "is not Background"},
		{"GET", "preview?resource=cm&namespace=a&name=o&gracePeriodSeconds=-1", "", 400, "not a number of seconds"},
		{"GET", "preview?resource=cm&namespace=a&name=o&labelSelector=a", "", 400, "can't be used with names"},
		{"GET", "preview?resource=cm&namespace=a&labelSelector=a%3D%3D%3D", "", 400, "labelSelector"},
		{"POST", "preview", `{"objects":[{"Name":1}]}`, 400, "body"},
		{"POST", "preview", `{"object":[]}`, 400, "body"},
		{"POST", "preview", `{"objects":[` + many + `{"uid":"u"}]}`, 413, "the allowed maximum is 1000"},
		{"POST", "preview", strings.Repeat(" ", 1<<20+1), 413, "more than 1048576 bytes"},
		{"POST", "tree", "{}", 405, ""},
	} {
		a := s.As("admin", c.method, "/kubecascade/v1/"+c.path, c.body)
		if st := a.Status(); a.Code != c.code || int(st.Code) != c.code || !strings.Contains(st.Message, c.message) {
			t.Errorf("%s %s: %d %s; expected %d %s", c.method, c.path, a.Code, a.Body, c.code, c.message)
		}
	}
}

// far has the answers of an aggregated server, by the user and the path, and the event of its watches. It does not
// respond to other requests.
type far map[string]string

type as struct {
	*secured
	user string
}

func (f as) RoundTrip(r *http.Request) (*http.Response, error) {
	key := f.user + " " + r.URL.Path
	if r.URL.Query().Has("watch") {
		key = "watch"
	}
	if f.before != nil {
		f.before()
	}
	answer, ok := f.far[key]
	if !ok {
		return nil, errors.New("no response")
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if strings.Contains(answer, `"NotFound"`) {
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = w.WriteString(answer) // it has no errors
	res := w.Result()
	if key == "watch" {
		rest, end := io.Pipe()
		context.AfterFunc(r.Context(), func() { _ = end.Close() })
		res.Body = io.NopCloser(io.MultiReader(res.Body, rest))
	}
	return res, nil
}

// aggregated makes the objects of a resource Far, which are in namespace a, those of an aggregated server.
func (s *secured) aggregated(items ...string) {
	s.others = []metav1.APIResource{
		{Group: "example.com", Version: "v1", Name: "far", Kind: "Far", Namespaced: true,
			Verbs: []string{"delete", "list", "watch"}},
		{Group: "example.com", Version: "v1", Name: "metrics", Kind: "Metric", Verbs: []string{"list"}},
		{Group: "example.com", Version: "v1", Name: "..", Kind: "Outside", Verbs: []string{"delete", "list"}},
	}
	list := `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[` +
		strings.Join(items, ",") + `]}`
	s.far = far{"admin /apis/example.com/v1/far": list, "alice /apis/example.com/v1/namespaces/a/far": list,
		"admin /apis/example.com/v1/namespaces/a/far/late": farObject("late", ""),
		"admin /apis/example.com/v1/namespaces/a/far/lost": `{"kind":"Status","code":404,
			"reason":"NotFound","message":"x"}`}
}

func farObject(name, owners string) string {
	return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"namespace":"a","name":"` + name +
		`","uid":"uid-` + name + `"` + owners + `}}`
}

func ownedByFar(name string) string {
	return strings.Replace(ownedBy("Far", name, "uid-"+name), `"v1"`, `"example.com/v1"`, 1)
}

// TestObjectsOfAggregatedServers: they are read as the user, as owners, dependents, a namespace's content and objects
// of a question, after RBAC of this server.
func TestObjectsOfAggregatedServers(t *testing.T) {
	s := startSecured(t, nil)
	const maps = "/api/v1/namespaces/a/configmaps"
	uid := s.create(maps, "o", "")
	s.create(maps, "d", ownedByFar("f"))
	s.create(maps, "late", ownedByFar("late"))
	s.create(maps, "lost", ownedByFar("lost"))
	s.aggregated(farObject("f", ownedBy("ConfigMap", "o", uid)))
	s.Grant("alice", "", "ask", `[`+paths+`]`)
	s.Grant("alice", "a", "read", `[{"apiGroups":["example.com"],"resources":["far"],"verbs":["list"]}]`)
	tree := "tree?namespace=a&resource="
	for _, c := range []struct{ user, path, want string }{
		{"admin", tree + "cm&name=o",
			`"dependents":[{"object":{"apiVersion":"example.com/v1","kind":"Far","namespace":"a","name":"f"`},
		{"admin", tree + "far&name=f",
			`"owners":[{"object":{"apiVersion":"v1","kind":"ConfigMap","namespace":"a","name":"o"`},
		{"admin", "preview?resource=cm&namespace=a&name=o", `"resource":"far.example.com"`},
		{"admin", "why?resource=cm&namespace=a&name=d", `Far f`},
		{"admin", "why?resource=cm&namespace=a&name=late", `"cause":"Owned"`},
		{"admin", "why?resource=cm&namespace=a&name=lost", `"cause":"OwnersGone"`},
		{"alice", tree + "far&name=f", `"name":"f"`},
		{"alice", "tree?namespace=b&resource=far&name=f", `"code":403`},
	} {
		if a := s.As(c.user, "GET", "/kubecascade/v1/"+c.path, ""); !strings.Contains(string(a.Body), c.want) {
			t.Errorf("%s %s: %d %s, expected %s", c.user, c.path, a.Code, a.Body, c.want)
		}
	}
	s.before = sync.OnceFunc(func() {
		s.aggregated(farObject("f", ownedBy("ConfigMap", "new", s.create(maps, "new", ""))))
	})
	if a := s.As("admin", "GET", "/kubecascade/v1/why?resource=far&namespace=a&name=f", ""); !strings.Contains(
		string(a.Body), `"cause":"Owned"`) {
		t.Errorf("an owner that was created before the list: %s", a.Body)
	}
	s.before = nil
	s.create(maps, "broken", ownedByFar("broken")) // there is no response for its owner
	for path, want := range map[string]string{
		tree + "cm&name=o":                        `"notListed":[{"resource":"far.example.com","reason":"no response"}]`,
		"preview?resource=cm&namespace=a&name=o":  `(no response), so effects on them are not shown`,
		"why?resource=cm&namespace=a&name=broken": `exists; the objects of that kind are not known`,
	} {
		if a := s.As("admin", "GET", "/kubecascade/v1/"+path, ""); !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %d %s, expected %s", path, a.Code, a.Body, want)
		}
	}
	s.far["watch"] = `{"type":"ADDED","object":` + farObject("new", "") + `}`
	for next := s.stream("admin", "?namespace=a"); ; {
		if m := next(); len(m.Changes) > 0 && m.Changes[0].After.Name == "new" {
			break
		}
	}
}

// TestAggregatedServersThatDoNotRespond: their objects are not known, neither as owners nor as content of a namespace.
// No namespace is removed while the resources of one are not known (E-14).
func TestAggregatedServersThatDoNotRespond(t *testing.T) {
	s := startSecured(t, nil)
	s.aggregated()
	s.far, s.stale = nil, []schema.GroupVersion{{Group: "other.example.com", Version: "v1"}}
	s.create("/api/v1/namespaces/a/configmaps", "d", ownedByFar("f"))
	s.Want(200, "DELETE", "/api/v1/namespaces/b", nil)
	for path, want := range map[string]string{
		"why?resource=cm&namespace=a&name=d":     `its owner Far f exists; the objects of that kind are not known`,
		"why?resource=ns&name=b":                 `objects of far.example.com, if there are any, are not known: no response`,
		"tree?resource=cm&namespace=a&name=d":    `[{"resource":"far.example.com","reason":"no response"}]`,
		"preview?resource=cm&namespace=a&name=d": `objects of far.example.com are not known (no response), so`,
		"preview?resource=ns&name=a":             `it stays as long as APIService v1.other.example.com is not available`,
		"lint":                                   `"items":[]`,
		"why?resource=far&namespace=a&name=f":    `far.example.com: no response`,
	} {
		if a := s.As("admin", "GET", "/kubecascade/v1/"+path, ""); !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %d %s, expected %s", path, a.Code, a.Body, want)
		}
	}
}

// TestAnswersHaveAcknowledgedWrites: an answer has every write that was acknowledged before the question.
func TestAnswersHaveAcknowledgedWrites(t *testing.T) {
	s := startSecured(t, nil)
	uid := s.create("/api/v1/namespaces/a/configmaps", "o", "")
	for i := range 50 {
		a := s.Want(201, "POST", "/api/v1/namespaces/a/configmaps",
			`{"metadata":{"name":"d`+strconv.Itoa(i)+`"`+ownedBy("ConfigMap", "o", uid)+`}}`)
		tree := decode[explain.Tree](t, s.As("admin", "GET", "/kubecascade/v1/tree"+o, ""))
		written, err := strconv.ParseInt(a.Object().GetResourceVersion(), 10, 64)
		if err != nil || len(tree.Object.Dependents) != i+1 || tree.Revision < written {
			t.Fatalf("after %d dependents, at %s, at %d:\n%s", i+1, a.Object().GetResourceVersion(), tree.Revision,
				tree.Text(explain.Style{}))
		}
	}
	for i := range 50 {
		s.Want(200, "DELETE", "/api/v1/namespaces/a/configmaps/d"+strconv.Itoa(i), nil)
		tree := decode[explain.Tree](t, s.As("admin", "GET", "/kubecascade/v1/tree"+o, ""))
		if len(tree.Object.Dependents) != 49-i {
			t.Fatalf("after %d deletions:\n%s", i+1, tree.Text(explain.Style{}))
		}
	}
}

// TestUnreadable: a resource with an object that can't be decoded is not known, rather than without the object.
func TestUnreadable(t *testing.T) {
	s := startSecured(t, nil)
	s.example()
	s.Put(t, "/registry/configmaps/a/o", "garbage")
	a := s.Ask("GET", "/kubecascade/v1/why?resource=secrets&namespace=a&name=e", "", "Authorization", "Bearer admin-token")
	if a.Code != http.StatusOK || !strings.Contains(string(a.Body), `"cause":"OwnerUnknown"`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}
