package apiserver

import (
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// audit measures and logs each request.
func (s *Server) audit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		conn := exchange.ConnectionOf(r)
		conn.Rest()
		defer conn.Rest()
		id := r.Header.Get("Audit-Id")
		if id == "" {
			id = string(uuid.NewUUID())
		}
		w.Header().Set("Audit-Id", id)
		rec := exchange.Of(r)
		if r.ProtoMajor < 2 {
			rec.SetDeadline(time.Time{}) // what the connection's last answer has left
		}
		defer func() { // a connection that is aborted was a request, too
			took := time.Since(start)
			code, bytes := rec.Answered()
			s.metrics.Answered(rec.Label, code, bytes, took)
			if s.log.Enabled(r.Context(), slog.LevelDebug) {
				s.log.Debug("request", "method", r.Method, "uri", loggable(r.URL), "code", code, "bytes", bytes, "took", took, "agent", r.UserAgent())
			}
		}()
		if exchange.HasBody(r) {
			r.Body = exchange.NewBody(w, r, start.Add(s.config.RequestTimeout))
		}
		next.ServeHTTP(w, r)
		rec.Finish()
	})
}

// observe tells the recorder what the request turned out to be.
func (s *Server) observe(r *http.Request, t registry.Target, verb string) {
	if rec := exchange.Of(r); rec != nil {
		rec.Label = exchange.LabelOf(t, verb)
		if strings.Contains(r.URL.RawQuery, "dryRun") && slices.Contains(exchange.Query(r)["dryRun"], metav1.DryRunAll) {
			rec.Label.DryRun = metav1.DryRunAll
		}
		if verb == "patch" && r.Header.Get("Content-Type") == string(types.ApplyPatchType) {
			rec.Label.Verb = "APPLY"
		}
	}
}

// noCache marks every answer, failures too: all are for who has asked (AS endpoints/filters/cachecontrol.go).
func noCache(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache, private")
		next.ServeHTTP(w, r)
	})
}

// recoverPanics answers 500 and logs where it happened. What has begun to be sent can't become an
// error any more: the connection is cut, so that nobody takes the half for the whole.
// http.ErrAbortHandler is how a handler asks for that.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			switch p {
			case nil:
				return
			case http.ErrAbortHandler:
				panic(p)
			}
			s.metrics.Panics.Inc()
			s.log.Error("handler panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			if rec, ok := w.(*exchange.Recorder); ok && rec.Begun() {
				panic(http.ErrAbortHandler)
			}
			s.writeError(w, r, apierrors.NewInternalError(status.ErrPanic))
		}()
		next.ServeHTTP(w, r)
	})
}

// ownOrigin keeps web pages off a port that asks for no credentials: it serves requests for
// loopback names only, so that no name of somebody else's can be made to point here, and none that
// a browser says another site has made (kubectl proxy: --accept-hosts).
func (s *Server) ownOrigin(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		judged := r
		if isWebSocket(r) { // pages may read those of other sites, unlike the answer to a GET
			judged = r.Clone(r.Context())
			judged.Method = http.MethodPost
		}
		if !loopbackHost(r.Host) || cross.Check(judged) != nil {
			s.writeError(w, r, status.ErrForeign)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopbackHost reports whether a Host header names this machine's loopback interface.
func loopbackHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "" || host == "localhost" || ip != nil && ip.IsLoopback()
}
