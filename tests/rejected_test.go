package tests

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/tests/process"
)

// bad is a request that must be rejected and change nothing.
type bad struct {
	what, user, method, path string
	// header are lines, and body is sent with its length; media is "" for JSON.
	header      []string
	media, body string
	// plain: it is sent to the insecure port.
	plain bool
	// raw is sent instead of all that, with \n for the ends of lines.
	raw string
	// code is that of the only answer.
	code int
}

const (
	namespaces = "/api/v1/namespaces"
	attacked   = namespaces + "/attack"
	configMaps = attacked + "/configmaps"
	rbac       = "/apis/rbac.authorization.k8s.io/v1"
	// secret is what the attacker is after.
	secret = namespaces + "/other/secrets/hidden"
)

// The users. Each has a token: admin is a member of system:masters, attacker may do everything in the namespace attack,
// and stranger what rejecting gives it.
const (
	admin, attacker, stranger = "admin", "mallory", "stranger"
	tokens                    = "admin-token,admin,1,system:masters\nmallory-token,mallory,2\nstranger-token,stranger,3\n"
)

func token(user string) string { return user + "-token" }

// rejecter sends requests that must be rejected.
type rejecter struct {
	t *testing.T
	// plain and secure are the URLs of the server's ports.
	plain, secure string
}

// TestRejected: requests that must be rejected are, and change nothing.
func TestRejected(t *testing.T) {
	r := rejecting(t)
	for name, all := range map[string][]bad{
		"paths": badPaths(), "identities": badIdentities(), "rights": badRights(), "messages": badMessages(),
		"bodies": badBodies(),
	} {
		t.Run(name, func(t *testing.T) {
			for _, b := range all {
				if err := r.reject(b); err != nil {
					t.Errorf("%s: %v", b.what, err)
				}
			}
		})
	}
}

// TestReject: a request that isn't rejected, changes something or discloses a secret is found.
func TestReject(t *testing.T) {
	r := rejecting(t)
	create := func(path string) bad {
		return bad{user: attacker, method: "POST", path: path, body: `{"metadata":{"name":"n"}}`, code: 201}
	}
	for what, c := range map[string]struct {
		row  bad
		want string
	}{
		"rejected":     {bad{user: stranger, method: "GET", path: secret, code: 403}, ""},
		"another code": {bad{user: stranger, method: "GET", path: secret, code: 404}, "[403] instead of 404"},
		"a change":     {create(configMaps), "it changed something"},
		"a dry run":    {create(attacked + "/secrets?dryRun=All"), ""},
		"a secret":     {bad{user: admin, method: "GET", path: secret, code: 200}, "the secret was told"},
		"two answers": {bad{raw: strings.Repeat("GET /version HTTP/1.1\nHost: localhost\n\n", 2), code: 200},
			"[200 200] instead of 200"},
	} {
		err := r.reject(c.row)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v instead of %q", what, err, c.want)
		}
	}
}

// rejecting starts a server on which nothing changes by itself, and gives the users rights that they may try to extend.
func rejecting(t *testing.T) *rejecter {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(file, []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	s := process.Start(t, "--authorization-mode=RBAC", "--controllers=none", "--token-auth-file", file)
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	r := &rejecter{t, s.URL, config.Host}
	bind := func(kind, role, user string) string {
		const group = `"apiGroup":"rbac.authorization.k8s.io"`
		return `{"metadata":{"name":"` + role + `"},"roleRef":{` + group + `,"kind":"` + kind + `","name":"` + role +
			`"},"subjects":[{` + group + `,"kind":"User","name":"` + user + `"}]}`
	}
	const all = `"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]`
	for _, o := range [][2]string{
		{namespaces, `{"metadata":{"name":"attack"}}`},
		{namespaces, `{"metadata":{"name":"other"}}`},
		{rbac + "/namespaces/attack/roles", `{"metadata":{"name":"own"},` + all + `}`},
		{rbac + "/namespaces/attack/rolebindings", bind("Role", "own", attacker)},
		{namespaces + "/other/secrets", `{"metadata":{"name":"hidden"},"stringData":{"k":"TOPSECRET"}}`},
		{configMaps, `{"metadata":{"name":"c"},"data":{"k":"v"}}`},
		{rbac + "/clusterroles", `{"metadata":{"name":"strong"},` + all + `}`},
		{rbac + "/clusterroles", `{"metadata":{"name":"writer"},"rules":[
			{"verbs":["create","get","list","update","patch"],"apiGroups":["rbac.authorization.k8s.io"],
			"resources":["roles","rolebindings","clusterroles","clusterrolebindings"]},
			{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},
			{"verbs":["update","patch"],"apiGroups":[""],"resources":["configmaps"]},
			{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["bob"]}]}`},
		{rbac + "/clusterrolebindings", bind("ClusterRole", "writer", stranger)},
		{rbac + "/namespaces/attack/roles",
			`{"metadata":{"name":"mine"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`},
	} {
		res, err := http.Post(r.plain+o[0], "application/json", strings.NewReader(o[1]))
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %s", o[0], res.Status)
		}
	}
	return r
}

// reject sends a request, and looks whether it was rejected and has changed anything.
func (r *rejecter) reject(b bad) error {
	before := r.state()
	codes, text, err := r.try(b)
	switch after := r.state(); {
	case err != nil:
		return err
	case !slices.Equal(codes, []int{b.code}):
		return fmt.Errorf("%v instead of %d: %.200q", codes, b.code, text)
	case strings.Contains(text, "TOPSECRET") || strings.Contains(text, "VE9QU0VDUkVU"):
		return errors.New("the secret was told")
	case !slices.Equal(before, after):
		return errors.New("it changed something")
	}
	return nil
}

// try sends a request on a connection of its own, and returns the codes of all answers and their bodies.
func (r *rejecter) try(b bad) (codes []int, text string, err error) {
	var c net.Conn
	if b.plain {
		c, err = net.Dial("tcp", strings.TrimPrefix(r.plain, "http://"))
	} else {
		c, err = tls.Dial("tcp", strings.TrimPrefix(r.secure, "https://"), &tls.Config{InsecureSkipVerify: true})
	}
	if err != nil {
		return nil, "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return nil, "", err
	}
	go func() {
		_, _ = io.WriteString(c, b.bytes()) // a server that rejects it early doesn't read it all
		if w, ok := c.(interface{ CloseWrite() error }); ok && b.raw != "" {
			_ = w.CloseWrite() // so that it waits for no more; the same holds
		}
	}()
	for from := bufio.NewReader(c); ; {
		answer, err := http.ReadResponse(from, &http.Request{Method: b.method})
		if err != nil {
			return codes, text, nil
		}
		data, _ := io.ReadAll(answer.Body) // cut off, perhaps: the code was told
		codes, text = append(codes, answer.StatusCode), text+string(data)
	}
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
func (r *rejecter) state() (all []string) {
	for _, path := range []string{namespaces, "/api/v1/configmaps", "/api/v1/secrets", "/api/v1/pods",
		"/api/v1/services", "/api/v1/serviceaccounts",
		rbac + "/roles", rbac + "/rolebindings", rbac + "/clusterroles", rbac + "/clusterrolebindings",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		"/apis/certificates.k8s.io/v1/certificatesigningrequests",
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"} {
		res, err := http.Get(r.plain + path)
		if err != nil {
			r.t.Fatal(err)
		}
		var list struct {
			Items []metav1.PartialObjectMetadata
		}
		err = json.NewDecoder(res.Body).Decode(&list)
		if _ = res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			r.t.Fatalf("%s: %s %v", path, res.Status, err)
		}
		for _, i := range list.Items {
			all = append(all, string(i.UID)+" "+i.ResourceVersion)
		}
	}
	return all
}

// items joins n items with commas.
func items(n int, item func(i int) string) string {
	all := make([]string, n)
	for i := range n {
		all[i] = item(i)
	}
	return strings.Join(all, ",")
}

// bomb is YAML in which each line holds the one before twice.
func bomb(lines int) string {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a0: &a0 x\n"
	for i := range lines {
		text += fmt.Sprintf("  a%d: &a%[1]d [*a%[2]d, *a%[2]d]\n", i+1, i)
	}
	return text
}

// nested is a list in a list, and so on.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
