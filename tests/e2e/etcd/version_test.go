package etcd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/tests/process"
)

// TestOldestEtcdServesManyClients: many clients write to a server on the oldest etcd. Each client reads its writes by
// default reads, which depend on progress notifications. A watch receives every object once.
func TestOldestEtcdServesManyClients(t *testing.T) {
	m := newMember(t)
	m.run(oldest)
	url := serve(t, m).URL
	const clients, each = 8, 40
	path := url + "/api/v1/namespaces/default/configmaps"
	resp, err := http.Get(path + "?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for i := range each {
				name := fmt.Sprintf("c-%d-%d", c, i)
				err := create(url, name)
				if err == nil {
					_, err = get(path + "/" + name)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	seen := map[string]int{}
	events := bufio.NewScanner(resp.Body)
	for len(seen) < clients*each && events.Scan() {
		var e struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		if err := json.Unmarshal(events.Bytes(), &e); err != nil || e.Type != "ADDED" {
			t.Fatalf("%s: %v", events.Bytes(), err)
		}
		if seen[e.Object.Metadata.Name]++; seen[e.Object.Metadata.Name] > 1 {
			t.Errorf("%s twice", e.Object.Metadata.Name)
		}
	}
	if len(seen) < clients*each {
		t.Errorf("the watch ended after %d objects of %d: %v", len(seen), clients*each, events.Err())
	}
}

// TestOldEtcdIsRejected starts the server over an etcd that is too old.
func TestOldEtcdIsRejected(t *testing.T) {
	m := newMember(t)
	m.run(rejected)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, process.Binary, "serve", "--etcd-servers="+m.client, "--data-dir="+t.TempDir(),
		"--insecure-port=-1", "--secure-port=0").CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Errorf("the server ended with: %v, %v", err, ctx.Err())
	}
	for _, part := range []string{"Error: opening --etcd-servers: ", m.client, "3.5.12", "#15220", "3.5.13 or later"} {
		if !strings.Contains(string(out), part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
}

// TestEtcdIsReplacedUnderTheServer replaces etcd by a version that is too old, and back, while the server runs.
func TestEtcdIsReplacedUnderTheServer(t *testing.T) {
	m := newMember(t)
	m.run(oldest)
	s := serve(t, m)
	url := s.URL
	if err := create(url, "before"); err != nil {
		t.Fatal(err)
	}
	m.run(rejected)
	eventually(t, "the log says why etcd isn't used", func() bool {
		return strings.Contains(s.Log.String(), "etcd endpoint is not used") && strings.Contains(s.Log.String(), "3.5.12")
	})
	if err := create(url, "meanwhile"); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("creating meanwhile: %v", err)
	}
	if body, err := get(url + "/api/v1/namespaces/default/configmaps/before"); err == nil {
		t.Errorf("reading meanwhile: %s", body)
	}
	m.run(oldest)
	eventually(t, "the server works again", func() bool { return create(url, "after") == nil })
	for _, name := range []string{"before", "after"} {
		if _, err := get(url + "/api/v1/namespaces/default/configmaps/" + name); err != nil {
			t.Error(err)
		}
	}
}
