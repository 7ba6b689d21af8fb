package etcd

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPartition lets no packet pass between the server and etcd. Requests end with an error in bounded time, by
// the probes of the connection; when packets pass again all goes on, and a watch of before has no gap.
func TestPartition(t *testing.T) {
	m := newMember(t)
	m.run(oldest)
	p := newProxy(t, m.client)
	direct := m.client
	m.client = p.url
	url, other := serve(t, m).URL, serve(t, &member{client: direct}).URL
	resp, err := http.Get(url + "/api/v1/namespaces/default/configmaps?watch=true" +
		"&fieldSelector=metadata.name!=kube-root-ca.crt") // it is published meanwhile
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := bufio.NewScanner(resp.Body)
	sees := func(name string) {
		t.Helper()
		var e struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		if !events.Scan() || json.Unmarshal(events.Bytes(), &e) != nil || e.Type != "ADDED" ||
			e.Object.Metadata.Name != name {
			t.Fatalf("the watch has %q (%v), not %s", events.Bytes(), events.Err(), name)
		}
	}
	if err := create(url, "before"); err != nil {
		t.Fatal(err)
	}
	sees("before")

	p.stall()
	if err := create(other, "meanwhile"); err != nil {
		t.Fatal(err)
	}
	for _, request := range []func() error{
		func() error { return create(url, "lost") },
		func() error { _, err := get(url + "/api/v1/namespaces/default/configmaps/before"); return err },
	} {
		began := time.Now()
		err := request()
		took := time.Since(began)
		t.Logf("after %v: %v", took, err)
		if err == nil || took > 50*time.Second || !strings.Contains(err.Error(), ": 50") {
			t.Errorf("after %v: %v", took, err)
		}
	}

	p.heal()
	eventually(t, "the server works again", func() bool { return create(url, "after") == nil })
	sees("meanwhile")
	if _, err := get(url + "/api/v1/namespaces/default/configmaps/lost"); err == nil {
		sees("lost") // it was under way
	}
	sees("after")
}
