package endpoints_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// dialSocket opens a watch over a WebSocket. header has names and values alternately.
func dialSocket(t *testing.T, s *apiservertest.Server, path, origin string, header ...string) (*websocket.Conn, error) {
	t.Helper()
	c, err := websocket.NewConfig("ws"+strings.TrimPrefix(s.URL, "http")+path, origin)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		c.Header.Set(header[i], header[i+1])
	}
	conn, err := websocket.DialConfig(c)
	if err == nil {
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	return conn, err
}

// message receives one message with its kind.
var message = websocket.Codec{Unmarshal: func(data []byte, kind byte, v any) error {
	*v.(*received) = received{kind, data}
	return nil
}}

type received struct {
	kind byte
	data []byte
}

// TestSocketEventsAreMessages: each event is a message, and the stream ends cleanly (H-25).
func TestSocketEventsAreMessages(t *testing.T) {
	s := apiservertest.Start(t, nil)
	must(t, s.Do("POST", configmaps, configmap("a", nil, nil)), http.StatusCreated)
	c, err := dialSocket(t, s, configmaps+"?watch=true&resourceVersion=0", s.URL)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string) {
		t.Helper()
		var m received
		if err := message.Receive(c, &m); err != nil {
			t.Fatal(err)
		}
		var e struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := json.Unmarshal(m.data, &e); err != nil || m.kind != websocket.TextFrame {
			t.Fatalf("received kind %d, %q: %v", m.kind, m.data, err)
		}
		if got := e.Type + " " + e.Object.Name; got != want {
			t.Fatalf("received %s, want %s", got, want)
		}
	}
	expect("ADDED a")
	must(t, s.Do("POST", configmaps, configmap("b", nil, nil)), http.StatusCreated)
	expect("ADDED b")
	must(t, s.Do("DELETE", configmaps+"/a", nil), http.StatusOK)
	expect("DELETED a")
	if err := websocket.Message.Send(c, "what a client sends is ignored"); err != nil {
		t.Fatal(err)
	}
	must(t, s.Do("DELETE", configmaps+"/b", nil), http.StatusOK)
	expect("DELETED b")
	s.API.CloseWatches()
	if err := message.Receive(c, &received{}); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v, want a clean one", err)
	}
}

func TestSocketForms(t *testing.T) {
	t.Parallel()
	s := apiservertest.Start(t, nil)
	must(t, s.Do("POST", configmaps, configmap("a", nil, nil)), http.StatusCreated)
	for _, test := range []struct {
		name, query string
		header      []string
		kind        byte
		contains    string
	}{
		{"JSON", "", nil, websocket.TextFrame, `{"type":"ADDED","object":{"kind":"ConfigMap",`},
		{"JSON ends in a newline", "", nil, websocket.TextFrame, "}}\n"},
		{
			"protobuf without a length", "", []string{"Accept", "application/vnd.kubernetes.protobuf;stream=watch"},
			websocket.BinaryFrame, "\n\x05ADDED\x12",
		},
		{
			"metadata", "", []string{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
			websocket.TextFrame, `"kind":"PartialObjectMetadata"`,
		},
		// H-30
		{
			"error", "&resourceVersion=999999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", nil,
			websocket.TextFrame, `{"type":"ERROR","object":{"kind":"Status",`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // each watch lasts a second
			c, err := dialSocket(t, s, configmaps+"?watch=true&timeoutSeconds=1"+test.query, s.URL, test.header...)
			if err != nil {
				t.Fatal(err)
			}
			var m received
			if err := message.Receive(c, &m); err != nil {
				t.Fatal(err)
			}
			if m.kind != test.kind || !strings.Contains(string(m.data), test.contains) {
				t.Errorf("received kind %d, %q", m.kind, m.data)
			}
			if err := message.Receive(c, &m); !errors.Is(err, io.EOF) { // H-33
				t.Errorf("at the end: %v, want a clean one", err)
			}
		})
	}
}

// TestSocketRejected: an invalid request gets the same response as over plain HTTP, and requests from pages of other
// sites are rejected on the plain port: they could read the response.
func TestSocketRejected(t *testing.T) {
	s := apiservertest.Start(t, nil)
	upgrade := []string{
		"Connection", "keep-alive, Upgrade", "Upgrade", "WebSocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key",
		"AAAAAAAAAAAAAAAAAAAAAA==",
	}
	for _, test := range []struct {
		path   string
		origin string
		code   int
	}{
		{configmaps + "?watch=true&labelSelector=%3D", s.URL, http.StatusBadRequest},
		{configmaps + "?watch=true&resourceVersion=x", s.URL, http.StatusInternalServerError},
		{configmaps + "?watch=true", "http://other.example", http.StatusForbidden},
		{configmaps + "?watch=true", "null", http.StatusForbidden},
		{configmaps, s.URL, http.StatusOK}, // a list is a list
	} {
		t.Run(fmt.Sprint(test.path, " from ", test.origin), func(t *testing.T) {
			must(t, s.Do("GET", test.path, nil, append(upgrade, "Origin", test.origin)...), test.code)
		})
	}
}

// TestSocketHangUp: a client that disconnects, and one that doesn't read, don't block other requests.
func TestSocketHangUp(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout = time.Hour
	}})
	gone, err := dialSocket(t, s, configmaps+"?watch=true", s.URL)
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	if _, err := dialSocket(t, s, configmaps+"?watch=true", s.URL); err != nil { // never reads
		t.Fatal(err)
	}
	big := strings.Repeat("x", 900<<10)
	for i := range 12 {
		must(t, s.Do("POST", configmaps, configmap(fmt.Sprintf("big%d", i), map[string]string{"x": big}, nil)),
			http.StatusCreated)
	}
	s.API.CloseWatches() // returns although a message can't be sent
}
