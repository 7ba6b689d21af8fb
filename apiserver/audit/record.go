package audit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Record is the record of one request in the audit log. A nil Record is for a request that is not recorded: its methods
// do nothing.
type Record struct {
	// event is upstream's record, which is safe for concurrent use. Upstream's functions find it in ctx.
	event *audit.AuditContext
	ctx   context.Context
	rule  audit.RequestAuditConfig
	// longRunning reports whether the start of the response is a stage.
	longRunning bool
	// annotated is the number of bytes of the annotations.
	annotated atomic.Int64
	// done are the functions of Afterwards.
	done []func()
}

// Afterwards registers a function for the end of the last event. Only the request's goroutine may call it.
func (r *Record) Afterwards(f func()) { r.done = append(r.done, f) }

// Received records that the request has arrived. An error rejects the request: the log has the mode blocking-strict and
// can't be written (N-17).
func (r *Record) Received() error {
	if r.event.ProcessEventStage(r.ctx, auditinternal.StageRequestReceived) {
		return nil
	}
	audit.ApiserverAuditDroppedCounter.Inc()
	return errors.New("failed to store audit event")
}

// Rejected records that no user was authenticated. The start of the response is the only stage (N-15). The event has
// the message of the Status, as in upstream (AS endpoints/filters/authn_audit.go and
// handlers/responsewriters/writers.go: WriteObjectNegotiated).
func (r *Record) Rejected() {
	if r != nil {
		r.longRunning = true
	}
}

// Started records the HTTP status code at the start of the response.
func (r *Record) Started(code int) {
	if r == nil {
		return
	}
	r.event.SetEventResponseStatusCode(int32(code))
	if r.longRunning {
		r.event.ProcessEventStage(r.ctx, auditinternal.StageResponseStarted)
	}
}

// latency is the duration above which an annotation records the duration of a request (AS endpoints/filters/audit.go:
// writeLatencyToAnnotation). Upstream's annotations for parts of the duration are not modelled.
const latency = 500 * time.Millisecond

// Completed records that the request was served.
func (r *Record) Completed() {
	if r.event.GetEventResponseStatus() == nil {
		r.event.SetEventResponseStatus(
			&metav1.Status{Code: http.StatusOK, Status: metav1.StatusSuccess, Message: "Connection closed early"})
		if r.longRunning {
			r.event.ProcessEventStage(r.ctx, auditinternal.StageResponseStarted)
		}
	}
	if took := time.Since(r.event.GetEventRequestReceivedTimestamp().Time); took > latency {
		r.Annotate("apiserver.latency.k8s.io/total", took.String())
	}
	r.end(auditinternal.StageResponseComplete)
}

// Panicked records that the handler panicked.
func (r *Record) Panicked(value any) {
	r.event.SetEventResponseStatus(&metav1.Status{
		Code: http.StatusInternalServerError, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError,
		Message: fmt.Sprintf("APIServer panic'd: %v", value),
	})
	r.end(auditinternal.StagePanic)
}

func (r *Record) end(stage auditinternal.Stage) {
	defer func() {
		for _, f := range r.done {
			f()
		}
	}()
	r.event.ProcessEventStage(r.ctx, stage)
}

// maxAnnotations limits the annotations of an event, in bytes, because webhooks and policies choose their length.
const maxAnnotations = 4 << 20

// Annotate adds an annotation. An existing one with the same key stays (N-31). If the annotations would exceed
// maxAnnotations, it does nothing.
func (r *Record) Annotate(key, value string) {
	if r != nil && r.annotated.Add(int64(len(key)+len(value))) <= maxAnnotations {
		audit.AddAuditAnnotation(r.ctx, key, value)
	}
}

// Impersonated records the user that the client impersonates. mode is the verb of constrained impersonation, or empty.
func (r *Record) Impersonated(u authorization.User, mode string) {
	if r != nil {
		r.event.LogImpersonatedUser(&u, mode)
	}
}

// Requests reports whether the body of the request is recorded.
func (r *Record) Requests() bool {
	return r != nil && r.rule.Level.GreaterOrEqual(auditinternal.LevelRequest)
}

// Responses reports whether the body of the response is recorded.
func (r *Record) Responses() bool {
	return r != nil && r.rule.Level.GreaterOrEqual(auditinternal.LevelRequestResponse)
}
