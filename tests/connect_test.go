package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	clientspdy "k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"

	"github.com/kubecascade/kubecascade/tests/process"
)

// kubelet starts a kubelet that understands only SPDY. A command prints its path and query, and then its input, and
// returns the exit code 3. A forwarded port returns the data that it receives.
func kubelet(t *testing.T) *httptest.Server {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streams := make(chan httpstream.Stream, 10)
		_, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io", "portforward.k8s.io"})
		if err != nil {
			t.Error(err)
			return
		}
		conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
			streams <- s
			return nil
		})
		if conn == nil {
			return
		}
		defer conn.Close()
		byType := map[string]httpstream.Stream{}
		for strings.HasPrefix(r.URL.Path, "/exec/") && len(byType) < 3 {
			s := <-streams
			byType[s.Headers().Get(corev1.StreamType)] = s
		}
		for len(byType) == 0 {
			select {
			case s := <-streams:
				if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
					go func() { _, _ = io.Copy(s, s); _ = s.Close() }()
				}
			case <-conn.CloseChan():
				return
			}
		}
		_, _ = fmt.Fprintln(byType[corev1.StreamTypeStdout], r.URL)
		_, _ = io.Copy(byType[corev1.StreamTypeStdout], byType[corev1.StreamTypeStdin])
		_ = json.NewEncoder(byType[corev1.StreamTypeError]).Encode(metav1.Status{
			Status: metav1.StatusFailure, Reason: "NonZeroExitCode",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: "3"}}},
		})
	}))
	t.Cleanup(s.Close)
	return s
}

// TestConnections: client-go executes commands and forwards ports through the server, over SPDY and over WebSockets, to
// a kubelet that understands only SPDY.
func TestConnections(t *testing.T) {
	node := kubelet(t).Listener.Addr().(*net.TCPAddr)
	config := &rest.Config{Host: process.Start(t).URL}
	client := kubernetes.NewForConfigOrDie(config).CoreV1()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(node.Port)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	p.Spec = corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	_, err := client.Nodes().Create(t.Context(), n, metav1.CreateOptions{})
	if err == nil {
		_, err = client.Pods("default").Create(t.Context(), p, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	request := func(sub string) *rest.Request {
		return client.RESTClient().Post().Resource("pods").Namespace("default").Name("p").SubResource(sub)
	}
	command := request("exec").VersionedParams(&corev1.PodExecOptions{
		Command: []string{"sh", "-c"}, Stdin: true, Stdout: true}, scheme.ParameterCodec).URL()
	overSPDY, err := remotecommand.NewSPDYExecutor(config, "POST", command)
	if err != nil {
		t.Fatal(err)
	}
	overWebSocket, err := remotecommand.NewWebSocketExecutor(config, "GET", command.String())
	if err != nil {
		t.Fatal(err)
	}
	for name, executor := range map[string]remotecommand.Executor{"SPDY": overSPDY, "WebSocket": overWebSocket} {
		var out bytes.Buffer
		err := executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{
			Stdin: strings.NewReader("typed"), Stdout: &out,
		})
		var exit exec.CodeExitError
		const want = "/exec/default/p/c?command=sh&command=-c&input=1&output=1\ntyped"
		if !errors.As(err, &exit) || exit.Code != 3 || out.String() != want {
			t.Errorf("%s: %q, %v", name, out.String(), err)
		}
	}

	transport, upgrader, err := clientspdy.RoundTripperFor(config)
	if err != nil {
		t.Fatal(err)
	}
	forward := request("portforward").URL()
	webSockets, err := portforward.NewSPDYOverWebsocketDialer(forward, config)
	if err != nil {
		t.Fatal(err)
	}
	for name, dialer := range map[string]httpstream.Dialer{
		"SPDY":      clientspdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", forward),
		"WebSocket": webSockets,
	} {
		if err := echo(t, dialer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// echo forwards a port, and checks that the port returns the data that it receives.
func echo(t *testing.T, dialer httpstream.Dialer) error {
	stop, ready, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	f, err := portforward.NewOnAddresses(
		dialer, []string{"127.0.0.1"}, []string{"0:80"}, stop, ready, io.Discard, t.Output())
	if err != nil {
		return err
	}
	go func() { ended <- f.ForwardPorts() }()
	defer func() { <-ended }()
	defer close(stop)
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		return err
	}
	ports, err := f.GetPorts()
	if err != nil {
		return err
	}
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[0].Local))
	if err != nil {
		return err
	}
	defer c.Close()
	got := make([]byte, 4)
	if _, err = io.WriteString(c, "ping"); err == nil {
		_, err = io.ReadFull(c, got)
	}
	if err == nil && string(got) != "ping" {
		err = fmt.Errorf("%q came back", got)
	}
	return err
}
