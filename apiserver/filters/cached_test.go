package filters_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// measured gives each pod one container, with a name so long that a list of pods is compressed.
func measured(_ *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics {
	return &metricsv1beta1.PodMetrics{Timestamp: metav1.NewTime(now),
		Containers: []metricsv1beta1.ContainerMetrics{{Name: strings.Repeat("c", 500)}}}
}

const gadgets = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",
	"metadata":{"name":"gadgets.example.com","uid":"d"},
	"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]},
	"status":{"acceptedNames":{"plural":"gadgets","kind":"Gadget"},"storedVersions":["v1"],
		"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`

// shared is a server with objects in the namespaces a, which alice may read, and b, which mallory may read.
type shared struct {
	*apiservertest.Secured
	// old is a revision that is only in etcd, and since one that few events follow.
	old, since int64
}

// startShared starts the server, which treats clients as ones on another machine and serves the requests of the page.
func startShared(t *testing.T) *shared {
	t.Helper()
	s := &shared{}
	s.Secured = apiservertest.StartSecuredWith(t, apiservertest.Options{
		Kinds: resources.Metrics(measured), Cache: cache.Options{Events: 64, TimelineEvents: 128},
		Configure: func(c *apiserver.Config) {
			service := (&cluster.Server{
				Cache: c.Cache, Types: c.Types, Revision: c.Store.Revision,
				Authorizer: func() authorization.Authorizer { return s.API.Authorizer() },
			}).Service()
			c.Extensions = service.Routes()
		},
	})
	s.Port.Config.Handler = apiservertest.Remote(s.Port.Config.Handler)
	s.Put(t, "/registry/apiextensions.k8s.io/customresourcedefinitions/gadgets.example.com", gadgets)
	for user, namespace := range map[string]string{"alice": "a", "mallory": "b"} {
		s.Grant(user, namespace, "reader", `[{"verbs":["get","list","watch"],"apiGroups":["*"],"resources":["*"]}]`)
		s.Grant(user, "", "ask-"+user, `[{"verbs":["get"],"nonResourceURLs":["/kubecascade/*"]}]`)
	}
	for i := range 1100 { // more than 1,024, so that lists share them
		if i == 10 {
			s.old = s.Revision()
		}
		s.write("b", i)
		if i < 300 {
			s.write("a", i)
		}
	}
	s.since = s.Revision()
	s.write("a", 0)
	s.write("b", 0)
	s.Settle()
	return s
}

// write writes the objects with a number: a config map whose owner does not exist, which lint reports, a pod, unless
// many objects are written, and for the first number a custom resource.
func (s *shared) write(namespace string, i int) {
	s.T.Helper()
	put := func(collection, kind, more string) {
		s.Put(s.T, fmt.Sprintf("/registry/%s/%s/in-%s-%d", collection, namespace, namespace, i), fmt.Sprintf(
			`{%s,"metadata":{"name":"in-%[2]s-%d","namespace":%[2]q,"uid":"%[2]s-%[3]d","annotations":{"at":"%d"},
			"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"in-%[2]s-gone","uid":"gone-%[2]s"}]}%[5]s}`,
			kind, namespace, i, s.Revision(), more,
		))
	}
	put("configmaps", `"kind":"ConfigMap","apiVersion":"v1"`, `,"data":{"k":"in-`+namespace+`"}`)
	if i < 300 {
		put("pods", `"kind":"Pod","apiVersion":"v1"`, `,"spec":{"containers":[{"name":"c","image":"i"}]}`)
	}
	if i < 2 {
		put("example.com/gadgets", `"kind":"Gadget","apiVersion":"example.com/v1"`, "")
	}
}

// get returns the uncompressed body of a response.
func (s *shared) get(user, path string, header ...string) apiservertest.Answer {
	s.T.Helper()
	a := s.As(user, "GET", path, nil, header...)
	if a.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(a.Body))
		if err != nil {
			s.T.Fatal(err)
		}
		if a.Body, err = io.ReadAll(z); err != nil {
			s.T.Fatal(err)
		}
	}
	return a
}

// forms are the media types that clients accept. JSON is for resources that have no other form.
var forms = []string{
	"application/json", "application/yaml", "application/vnd.kubernetes.protobuf,application/json",
	"application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
	"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
	"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
}

// TestNobodyGetsWhatAnotherUsersRequestCached sends the same request for the namespace of each of two users, for all
// namespaces and for that of the other user, alternately and in every form. Each user gets only their own objects, also
// when another user's request has filled a cache (docs/caches.md).
func TestNobodyGetsWhatAnotherUsersRequestCached(t *testing.T) {
	apiservertest.Sequential(t)
	s := startShared(t)
	const watch = "?watch=1&timeoutSeconds=-1&resourceVersion=" // it ends after the existing events
	const initially = "?watch=1&timeoutSeconds=-1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" +
		"&allowWatchBookmarks=true"
	token := func(user, path string) string {
		list := s.get(user, path).Object().Object["metadata"].(map[string]any)
		return url.QueryEscape(list["continue"].(string))
	}
	all, other := token("admin", "/api/v1/configmaps?limit=1"), token("mallory", "/api/v1/namespaces/b/configmaps?limit=1")
	core, custom := "/api/v1{in}/configmaps", "/apis/example.com/v1{in}/gadgets"
	for _, path := range []string{
		core, core + "?limit=2", core + "?labelSelector=!x", core + "/in-{ns}-0", "/api/v1{in}/pods",
		fmt.Sprint(core, "?resourceVersionMatch=Exact&resourceVersion=", s.old),
		fmt.Sprint(core, watch, s.since), core + initially, "/api/v1/watch{in}/configmaps" + watch + fmt.Sprint(s.since),
		"/apis/metrics.k8s.io/v1beta1{in}/pods", "/apis/metrics.k8s.io/v1beta1{in}/pods/in-{ns}-0",
		custom, custom + "/in-{ns}-0", fmt.Sprint(custom, watch, s.since), custom + initially,
		"/apis/example.com/v2{in}/gadgets", fmt.Sprint("/apis/example.com/v2{in}/gadgets", watch, s.since),
		core + "?continue=" + all, core + "?continue=" + other,
	} {
		for _, form := range forms {
			if strings.Contains(path, "watch=1") { // whose response is no list
				form = strings.ReplaceAll(form, "MetadataList", "Metadata")
			}
			s.inTurn(path, form)
		}
	}
	for _, path := range []string{
		"tree?resource=configmaps&namespace={ns}&name=in-{ns}-0", "why?resource=configmaps&namespace={ns}&name=in-{ns}-0",
		"preview?resource=configmaps&namespace={ns}&name=in-{ns}-0", "tree?namespace={ns}&uid={ns}-0", "lint?namespace={ns}",
	} {
		s.inTurn("/kubecascade/v1/"+path, "application/json")
	}
}

// inTurn sends a request as every user for each namespace, with and without compression. {in} is the namespace's part
// of a path, and {ns} its name.
func (s *shared) inTurn(path, form string) {
	s.T.Helper()
	for _, encoding := range []string{"identity", "gzip"} {
		for _, user := range []string{"admin", "mallory", "alice"} {
			for _, namespace := range []string{"", "b", "a"} {
				in := ""
				if namespace != "" {
					in = "/namespaces/" + namespace
				}
				a := s.get(user, strings.NewReplacer("{in}", in, "{ns}", namespace).Replace(path),
					"Accept", form, "Accept-Encoding", encoding)
				s.check(user, namespace, a, strings.Join([]string{path, form, encoding}, " "))
			}
		}
	}
}

// check checks a response to a user for a namespace, or for all if it is empty.
func (s *shared) check(user, namespace string, a apiservertest.Answer, what string) {
	s.T.Helper()
	own := map[string]string{"alice": "a", "mallory": "b"}[user]
	for _, other := range []string{"a", "b"} {
		if own != "" && other != own && bytes.Contains(a.Body, []byte("in-"+other)) && a.Code == 200 {
			s.T.Errorf("%s gets of %s, asking for %q: %s: %.300s", user, other, namespace, what, a.Body)
		}
	}
	switch allowed := own == "" || own == namespace; {
	case !allowed && a.Code == 200 && !strings.Contains(what, "lint"), allowed && a.Code == 403:
		s.T.Errorf("%s, asking for %q: %s: %d %.300s", user, namespace, what, a.Code, a.Body)
	case allowed && a.Code == 200 && namespace != "" && !strings.Contains(what, "continue=") &&
		!bytes.Contains(a.Body, []byte("in-"+namespace)):
		s.T.Errorf("%s gets nothing of %s: %s: %.300s", user, namespace, what, a.Body)
	}
}

// TestRevokedAtOnce: the next request after a permission is granted or revoked gets the new decision. No decision of an
// authorizer, a policy's expression, an impersonation or a token is cached.
func TestRevokedAtOnce(t *testing.T) {
	apiservertest.Sequential(t)
	s := start(t, nil)
	const group = "/apis/rbac.authorization.k8s.io/v1/"
	const configmaps, admission = "/api/v1/namespaces/a/configmaps", "/apis/admissionregistration.k8s.io/v1/"
	s.Want(201, "POST", admission+"validatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{"matchConstraints":
		{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]},
		"validations":[{"expression":
		"authorizer.group('').resource('secrets').namespace('a').check('get').allowed()"}]}}`)
	s.Want(201, "POST", admission+"validatingadmissionpolicybindings",
		`{"metadata":{"name":"p"},"spec":{"policyName":"p","validationActions":["Deny"]}}`)
	s.Grant("alice", "a", "writer", `[{"verbs":["create"],"apiGroups":[""],"resources":["configmaps"]}]`)
	const rules = `"rules":[{"verbs":["list"],"apiGroups":[""],"resources":["configmaps"]},
		{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]},
		{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["bob"]}]`
	s.Want(201, "POST", group+"clusterroles", `{"metadata":{"name":"r"},`+rules+`}`)
	binding := `{"metadata":{"name":"r"},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]}`
	bind := func() { s.Want(201, "POST", group+"clusterrolebindings", binding) }
	unbind := func() { s.Want(200, "DELETE", group+"clusterrolebindings/r", nil) }
	lists := func() bool { return s.As("alice", "GET", configmaps, nil).Code == 200 }
	var token string
	for name, c := range map[string]struct {
		grant, revoke func()
		may           func() bool
	}{
		"cluster role binding": {bind, unbind, lists},
		"role binding": {
			func() { s.Want(201, "POST", group+"namespaces/a/rolebindings", binding) },
			func() { s.Want(200, "DELETE", group+"namespaces/a/rolebindings/r", nil) }, lists,
		},
		"rules": {
			func() { bind(); s.Want(200, "PUT", group+"clusterroles/r", `{"metadata":{"name":"r"},`+rules+`}`) },
			func() {
				s.Want(200, "PUT", group+"clusterroles/r", `{"metadata":{"name":"r"},"rules":[]}`)
				if lists() {
					t.Error("rules that are gone still grant")
				}
				unbind()
				s.Want(200, "PUT", group+"clusterroles/r", `{"metadata":{"name":"r"},`+rules+`}`)
			}, lists,
		},
		"review": {bind, unbind, func() bool {
			a := s.As("alice", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
				`{"spec":{"resourceAttributes":{"verb":"list","resource":"configmaps"}}}`)
			return a.Object().Object["status"].(map[string]any)["allowed"] == true
		}},
		"impersonation": {bind, unbind, func() bool {
			return s.As("alice", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`,
				"Impersonate-User", "bob").Code == 201
		}},
		"expression": {bind, unbind, func() bool {
			return s.As("alice", "POST", configmaps+"?dryRun=All", `{"metadata":{"name":"c"}}`).Code == 201
		}},
		"account": {
			func() {
				old := token
				s.Want(201, "POST", "/api/v1/namespaces/a/serviceaccounts", `{"metadata":{"name":"robot"}}`)
				token = s.token("a", "robot", `{}`)
				if a := s.Ask("GET", "/api", nil, "Authorization", "Bearer "+old); old != "" && a.Code != 401 {
					t.Errorf("the token of an account before of the same name: %d", a.Code)
				}
			},
			func() { s.Want(200, "DELETE", "/api/v1/namespaces/a/serviceaccounts/robot", nil) },
			func() bool { return s.Ask("GET", "/api", nil, "Authorization", "Bearer "+token).Code == 200 },
		},
	} {
		before, after := 0, 0
		for range 100 {
			if c.grant(); !c.may() {
				before++
			}
			if c.revoke(); c.may() {
				after++
			}
		}
		if before+after > 0 {
			t.Errorf("%s: of 100 times, alice may not %d times, and still may %d times", name, before, after)
		}
	}
}
