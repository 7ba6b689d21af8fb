package audit

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Record is what the log has of one request. A nil Record is that of a request that is not recorded: its methods do
// nothing.
type Record struct {
	// event is upstream's, and guards itself. ctx has it, too, as upstream's functions look for it there.
	event *audit.AuditContext
	ctx   context.Context
	rule  audit.RequestAuditConfig
	// longRunning says that the begin of the response is a stage.
	longRunning bool
	// annotated is how many bytes the annotations have.
	annotated atomic.Int64
	// done are called when the last event was written.
	done []func()
}

// Afterwards calls f when the last event of the request was written. It is for the goroutine that serves the request.
func (r *Record) Afterwards(f func()) { r.done = append(r.done, f) }

// Received records that the request has arrived. It returns false if the request must be rejected because that failed
// (N-17).
func (r *Record) Received() bool {
	if r.event.ProcessEventStage(r.ctx, auditinternal.StageRequestReceived) {
		return true
	}
	audit.ApiserverAuditDroppedCounter.Inc()
	return false
}

// Rejected says that no user was authenticated: the begin of the response is the only stage (N-15). The message that
// upstream prepares for it is replaced by that of the Status
// (AS endpoints/filters/authn_audit.go and handlers/responsewriters/writers.go: WriteObjectNegotiated).
func (r *Record) Rejected() {
	if r != nil {
		r.longRunning = true
	}
}

// Started records that the response begins with an HTTP code.
func (r *Record) Started(code int) {
	if r == nil {
		return
	}
	r.event.SetEventResponseStatusCode(int32(code))
	if r.longRunning {
		r.event.ProcessEventStage(r.ctx, auditinternal.StageResponseStarted)
	}
}

// latency is from which duration a request has it in an annotation (AS endpoints/filters/audit.go:
// writeLatencyToAnnotation). The parts that upstream names are not measured.
const latency = 500 * time.Millisecond

// Completed records that the request has been served.
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

// mostAnnotations limits the annotations of an event, in bytes: webhooks and policies choose how long they are.
const mostAnnotations = 4 << 20

// Annotate adds an annotation. If there is one of that key already, it stays (N-31). It does nothing once there are
// mostAnnotations.
func (r *Record) Annotate(key, value string) {
	if r != nil && r.annotated.Add(int64(len(key)+len(value))) <= mostAnnotations {
		audit.AddAuditAnnotation(r.ctx, key, value)
	}
}

// Impersonated records as whom the client acts; mode is the verb of constrained impersonation, or empty.
func (r *Record) Impersonated(u authorization.User, mode string) {
	if r != nil {
		r.event.LogImpersonatedUser(userInfo(u), mode)
	}
}

// Requests reports whether what the client sent is recorded.
func (r *Record) Requests() bool {
	return r != nil && r.rule.Level.GreaterOrEqual(auditinternal.LevelRequest)
}

// Responses reports whether the response is recorded.
func (r *Record) Responses() bool {
	return r != nil && r.rule.Level.GreaterOrEqual(auditinternal.LevelRequestResponse)
}
