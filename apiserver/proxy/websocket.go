package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	tunnels "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/apimachinery/pkg/util/proxy"
	protocol "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	clientspdy "k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

const (
	// idle is the time after which an idle WebSocket is closed (AS pkg/util/proxy/websocket.go).
	idle = 4 * time.Hour
	// lastWrite is the time in which the client must read the result of a command.
	lastWrite = 10 * time.Second
	// ping is the interval of pings to the kubelet.
	ping = 5 * time.Second
)

// Upgrade forwards a request that the client upgrades. If sockets is set, or for SPDY and old WebSocket protocols, it
// forwards the connection unchanged. It translates other WebSockets to SPDY for kubelets that do not support them.
func Upgrade(w http.ResponseWriter, r *http.Request, t *Target, sockets bool) {
	r = r.WithContext(klog.NewContext(r.Context(), klog.Logger{})) // the libraries log each client that disconnects
	u := &upgradable{ResponseWriter: w, ctx: r.Context()}
	defer u.release()
	switch {
	case !sockets && wsstream.IsWebSocketRequestWithStreamCloseProtocol(r):
		translate(u, r, t.bound())
	case !sockets && wsstream.IsWebSocketRequestWithTunnelingProtocol(r):
		if err := tunnel(u, r, t.bound()); err != nil {
			t.Fail(w, r, err)
		}
	default:
		Forward(w, r, t)
	}
}

// translate forwards the streams of a command between a WebSocket and SPDY (AS pkg/util/proxy/streamtranslator.go).
func translate(w http.ResponseWriter, r *http.Request, t *Target) {
	query := t.URL.Query()
	channels := []wsstream.ChannelType{
		protocol.StreamStdIn:  channelIf(query.Has(corev1.ExecStdinParam), wsstream.ReadChannel),
		protocol.StreamStdOut: channelIf(query.Has(corev1.ExecStdoutParam), wsstream.WriteChannel),
		protocol.StreamStdErr: channelIf(query.Has(corev1.ExecStderrParam), wsstream.WriteChannel),
		protocol.StreamErr:    wsstream.WriteChannel,
		protocol.StreamResize: wsstream.ReadChannel,
	}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{
		protocol.StreamProtocolV5Name: {Binary: true, Channels: channels},
	})
	conn.SetIdleTimeout(idle)
	_, streams, err := conn.Open(w, r)
	if err != nil {
		return // the client has got its response
	}
	defer conn.Close()
	first := protocol.StreamErr // the client waits for a first message
	o := remotecommand.StreamOptions{Tty: query.Has(corev1.ExecTTYParam)}
	if query.Has(corev1.ExecStderrParam) {
		o.Stderr, first = streams[protocol.StreamStdErr], protocol.StreamStdErr
	}
	if query.Has(corev1.ExecStdoutParam) {
		o.Stdout, first = streams[protocol.StreamStdOut], protocol.StreamStdOut
	}
	if query.Has(corev1.ExecStdinParam) {
		o.Stdin = streams[protocol.StreamStdIn]
	}
	if o.Tty {
		o.TerminalSizeQueue = sizes{json.NewDecoder(streams[protocol.StreamResize])}
	} else {
		go func() { _, _ = io.Copy(io.Discard, streams[protocol.StreamResize]) }() // ends with the connection
	}
	if _, err := streams[first].Write(nil); err != nil {
		return
	}
	ended, err := json.Marshal(outcome(run(r.Context(), t, o)))
	if err == nil {
		conn.SetWriteDeadline(lastWrite)
		_, _ = streams[protocol.StreamErr].Write(ended) // an error means that the client has disconnected
	}
}

func channelIf(is bool, t wsstream.ChannelType) wsstream.ChannelType {
	if is {
		return t
	}
	return wsstream.IgnoreChannel
}

// sizes reads the sizes of the client's terminal.
type sizes struct{ from *json.Decoder }

// Next implements remotecommand.TerminalSizeQueue.
func (s sizes) Next() *remotecommand.TerminalSize {
	size := &remotecommand.TerminalSize{}
	if s.from.Decode(size) != nil {
		return nil
	}
	return size
}

// run connects the streams to the kubelet until the command ends.
func run(ctx context.Context, t *Target, o remotecommand.StreamOptions) error {
	rt, err := spdy.NewRoundTripperWithConfig(spdy.RoundTripperConfig{UpgradeTransport: t.Transport, PingPeriod: ping})
	if err != nil {
		return err
	}
	e, err := remotecommand.NewSPDYExecutorRejectRedirects(
		rt, clientspdy.NewUpgraderForStreaming(rt), http.MethodPost, t.URL)
	if err != nil {
		return err
	}
	return e.StreamWithContext(ctx, o)
}

// outcome returns the result of a command for the client.
func outcome(err error) metav1.Status {
	var known *apierrors.StatusError
	var exit exec.CodeExitError
	switch {
	case err == nil:
		return metav1.Status{Status: metav1.StatusSuccess}
	case errors.As(err, &known):
		return known.ErrStatus
	case errors.As(err, &exit) && exit.Exited():
		return metav1.Status{
			Status: metav1.StatusFailure, Reason: protocol.NonZeroExitCodeReason,
			Message: "command terminated with non-zero exit code: " + exit.Error(),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
				{Type: protocol.ExitCodeCauseType, Message: strconv.Itoa(exit.ExitStatus())},
			}},
		}
	}
	return apierrors.NewInternalError(err).ErrStatus
}

// tunnel forwards SPDY in a WebSocket to the kubelet (AS pkg/util/proxy/streamtunnel.go). If it returns an error, it
// has not responded to the request.
func tunnel(w http.ResponseWriter, r *http.Request, t *Target) error {
	up := utilnet.CloneRequest(r)
	for _, name := range []string{wsstream.WebSocketProtocolHeader, "Sec-Websocket-Key", "Sec-Websocket-Version"} {
		up.Header.Del(name)
	}
	up.Method, up.Body, up.URL = http.MethodPost, nil, t.URL
	up.Header.Set(httpstream.HeaderUpgrade, spdy.HeaderSpdy31)
	for _, p := range websocket.Subprotocols(r) {
		if inner, ok := strings.CutPrefix(p, tunnels.WebsocketsSPDYTunnelingPrefix); ok {
			up.Header.Add(httpstream.HeaderProtocolVersion, inner)
		}
	}
	backend, err := proxy.NewUpgradeAwareHandler(t.URL, t.Transport, false, true, t).DialForUpgrade(up)
	if err != nil {
		return err
	}
	defer backend.Close()
	buffered := bufio.NewReader(backend)
	response, err := http.ReadResponse(buffered, up)
	if err != nil {
		return err
	}
	if code := response.StatusCode; code != http.StatusSwitchingProtocols {
		if code < http.StatusBadRequest {
			return errors.New("invalid upgrade response: status code " + strconv.Itoa(code))
		}
		defer response.Body.Close()
		w.WriteHeader(code)
		_, _ = io.Copy(w, response.Body) // it is the whole response
		return nil
	}
	socket, err := (&websocket.Upgrader{
		CheckOrigin: func(*http.Request) bool { return true },
		Subprotocols: []string{
			tunnels.WebsocketsSPDYTunnelingPrefix + response.Header.Get(httpstream.HeaderProtocolVersion),
		},
	}).Upgrade(w, r, nil)
	if err != nil {
		return nil // the client has got its response
	}
	client := portforward.NewTunnelingConnectionWithLogger(klog.FromContext(r.Context()), socket)
	defer client.Close()
	ended := make(chan struct{}, 2)
	for _, c := range []struct {
		to   io.Writer
		from io.Reader
	}{{backend, client}, {client, buffered}} {
		go func() {
			_, _ = io.Copy(c.to, c.from) // the end of either direction ends both
			ended <- struct{}{}
		}()
	}
	<-ended
	return nil
}
