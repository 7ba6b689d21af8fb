package attack

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// bad is a request that must be rejected and change nothing.
type bad struct {
	what, user, method, path string
	// header are lines, and body is sent with its length; media is "" for JSON.
	header      []string
	media, body string
	// plain says that it is sent to the port that takes everyone of this machine for an administrator.
	plain bool
	// raw is sent instead of all that, with \n for the ends of lines.
	raw string
	// code is that of the only answer.
	code int
}

// rejected is a table of requests that must be rejected, whatever state the server is in.
func rejected() []Attack {
	attack := func(name, does string, table func() []bad) Attack {
		return Attack{
			Group: "rejected", Name: name, Does: does, Whole: true, Setup: furnishRejected,
			Run: func(ctx context.Context, a *Attacker) error { return a.reject(ctx, table()) },
		}
	}
	return []Attack{
		attack("paths", "Asks for what it may not read by paths that can be read in two ways.", badPaths),
		attack("identity", "Claims to be another user, or to be the user of a web page's visitor.", badIdentities),
		attack("rights", "Takes or gives rights that it doesn't hold.", badRights),
		attack("messages", "Sends messages that proxies and servers read differently.", badMessages),
		attack("bodies", "Sends bodies that aren't what they say, or that are too large.", badBodies),
	}
}

// secret is what the attacker is after.
const secret = namespaces + "/other/secrets/hidden"

// furnishRejected gives the stranger rights that it may try to extend.
func furnishRejected(ctx context.Context, t *Target) error {
	c := t.client(admin, false)
	defer c.close()
	const authorization = `"apiGroup":"rbac.authorization.k8s.io"`
	bind := func(kind, role string) string {
		return `{"metadata":{"name":"` + role + `"},"roleRef":{` + authorization + `,"kind":"` + kind + `","name":"` + role +
			`"},
			"subjects":[{` + authorization + `,"kind":"User","name":"` + stranger + `"}]}`
	}
	for _, o := range [][2]string{
		{namespaces + "/other/secrets", `{"metadata":{"name":"hidden"},"stringData":{"k":"TOPSECRET"}}`},
		{configMaps, `{"metadata":{"name":"c"},"data":{"k":"v"}}`},
		{rbac + "/clusterroles",
			`{"metadata":{"name":"strong"},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`},
		{rbac + "/clusterroles", `{"metadata":{"name":"writer"},"rules":[
			{"verbs":["create","get","list","update","patch"],"apiGroups":["rbac.authorization.k8s.io"],
			"resources":["roles","rolebindings","clusterroles","clusterrolebindings"]},
			{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},
			{"verbs":["update","patch"],"apiGroups":[""],"resources":["configmaps"]},
			{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["bob"]}]}`},
		{rbac + "/clusterroles", `{"metadata":{"name":"sentinel","labels":{
			"rbac.authorization.k8s.io/aggregate-to-view":"true"}},
			"rules":[{"verbs":["get"],"apiGroups":["attack.test"],"resources":["sentinels"]}]}`},
		{rbac + "/clusterrolebindings", bind("ClusterRole", "writer")},
		{rbac + "/namespaces/attack/roles",
			`{"metadata":{"name":"mine"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`},
	} {
		if err := c.make(ctx, o[0], o[1]); err != nil {
			return err
		}
	}
	return c.settle(ctx)
}

// settle waits until the aggregated roles of a new cluster are complete. view aggregates the sentinel, edit aggregates
// view, and admin edit: when admin has the sentinel's rule, all three are as they stay.
func (c *Client) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return c.await(ctx, rbac+"/clusterroles?watch=1&fieldSelector=metadata.name%3Dadmin", func(e event) bool {
		return slices.ContainsFunc(e.Object.Rules, func(r rule) bool { return slices.Contains(r.Resources, "sentinels") })
	})
}

// event is what settle reads of a watch event.
type event struct {
	Object struct{ Rules []rule }
}

type rule struct{ Resources []string }

// await reads a watch, which begins with the objects that there are, until an event is the one that is waited for.
func (c *Client) await(ctx context.Context, path string, done func(event) bool) error {
	watch, err := c.open(ctx, Request{Method: "GET", Path: path}, nil)
	if err != nil {
		return err
	}
	defer watch.Body.Close()
	for d := json.NewDecoder(watch.Body); ; {
		var e event
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("awaiting %s: %w", path, err)
		}
		if done(e) {
			return nil
		}
	}
}

// reject sends the requests, and looks after each whether it was rejected and has changed anything.
func (a *Attacker) reject(ctx context.Context, table []bad) error {
	c := a.client(admin, false)
	defer c.close()
	before, err := c.state(ctx)
	if err != nil {
		return err
	}
	var wrong []string
	for _, b := range table {
		codes, text, err := a.try(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.what, err)
		}
		for _, code := range codes {
			a.count(ctx, code, nil)
		}
		after, err := c.state(ctx)
		if err != nil {
			return fmt.Errorf("after %s: %w", b.what, err)
		}
		switch {
		case !slices.Equal(codes, []int{b.code}):
			wrong = append(wrong, fmt.Sprintf("%s: %v instead of %d: %.200q", b.what, codes, b.code, text))
		case strings.Contains(text, "TOPSECRET") || strings.Contains(text, "VE9QU0VDUkVU"):
			wrong = append(wrong, b.what+": the secret was told")
		}
		if !slices.Equal(before, after) {
			wrong = append(wrong, b.what+": it changed something")
			before = after
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d of %d: %s", len(wrong), len(table), strings.Join(wrong, "; "))
	}
	return nil
}

// try sends a request on a connection of its own, and returns the codes of all answers and their bodies.
func (a *Attacker) try(ctx context.Context, b bad) (codes []int, text string, err error) {
	c, err := a.dialPort(ctx, b.plain)
	if err != nil {
		return nil, "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, "", err
	}
	go func() {
		_, _ = io.WriteString(c, b.bytes()) // a server that rejects it early doesn't read it all
		if w, ok := c.(interface{ CloseWrite() error }); ok && b.raw != "" {
			_ = w.CloseWrite() // so that it waits for no more; the same holds
		}
	}()
	r := bufio.NewReader(c)
	for {
		answer, err := http.ReadResponse(r, &http.Request{Method: b.method})
		if err != nil {
			return codes, text, nil
		}
		data, _ := io.ReadAll(answer.Body) // cut off, perhaps: the code was told
		codes, text = append(codes, answer.StatusCode), text+string(data)
	}
}

func (a *Attacker) dialPort(ctx context.Context, plain bool) (net.Conn, error) {
	if !plain {
		return a.dial(ctx, "http/1.1")
	}
	u, err := url.Parse(a.Plain)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
}

// bytes is the request on the wire.
func (b bad) bytes() string {
	if b.raw != "" {
		return strings.ReplaceAll(b.raw, "\n", "\r\n")
	}
	lines := []string{b.method + " " + b.path + " HTTP/1.1"}
	if !slices.ContainsFunc(b.header, func(l string) bool { return strings.HasPrefix(l, "Host:") }) {
		lines = append(lines, "Host: localhost")
	}
	if b.user != "" {
		lines = append(lines, "Authorization: Bearer "+token(b.user))
	}
	if b.body != "" {
		media := b.media
		if media == "" {
			media = "application/json"
		}
		lines = append(lines, "Content-Type: "+media, fmt.Sprint("Content-Length: ", len(b.body)))
	}
	return strings.Join(append(append(lines, b.header...), "Connection: close", "", b.body), "\r\n")
}

// state tells the versions of all objects that an attacker may want to change.
func (c *Client) state(ctx context.Context) (all []string, err error) {
	for _, path := range []string{namespaces, "/api/v1/configmaps", "/api/v1/secrets", "/api/v1/pods",
		"/api/v1/services", "/api/v1/serviceaccounts",
		rbac + "/roles", rbac + "/rolebindings", rbac + "/clusterroles", rbac + "/clusterrolebindings",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		"/apis/certificates.k8s.io/v1/certificatesigningrequests",
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"} {
		a, err := c.want(ctx, http.StatusOK, Request{Method: "GET", Path: path,
			Header: []string{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}})
		if err != nil {
			return nil, err
		}
		var list struct {
			Items []struct {
				Metadata struct{ UID, ResourceVersion string }
			}
		}
		if err := json.Unmarshal(a.Body, &list); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", path, err)
		}
		for _, i := range list.Items {
			all = append(all, i.Metadata.UID+" "+i.Metadata.ResourceVersion)
		}
	}
	return all, nil
}
