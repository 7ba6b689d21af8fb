package registry

import (
	"cmp"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Codes of answers that a request of the in-process client would get over HTTP.
const (
	codeOK       = 200
	codeCreated  = 201
	codeAccepted = 202
)

// methodOf returns the HTTP method of a request of the in-process client. It is empty for lists: they and watches are
// reads of the cache, which upstream's controllers make in their informers without a request.
func methodOf(verb string) string {
	switch verb {
	case "get":
		return "GET"
	case "create":
		return "POST"
	case "update":
		return "PUT"
	case "patch":
		return "PATCH"
	case "delete", "deletecollection":
		return "DELETE"
	}
	return ""
}

// statusType is the type of answers that are a Status.
var statusType = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}

// errUnrecorded: the audit log's mode is blocking-strict, and the log can't be written.
var errUnrecorded = errors.New("failed to store audit event")

// record begins the request's record in the audit log, if there is a log. An error rejects the request (N-17).
func (l *Loopback) record(verb string, o *Operation) error {
	method := methodOf(verb)
	if l.s.Audit == nil || method == "" {
		return nil
	}
	record := l.s.Audit.BeginOwn(audit.Own{
		User: l.user, Method: method, Path: o.path(), Agent: l.s.Agent + "/" + l.user.Name,
	})
	if record != nil && !record.Received() {
		return apierrors.NewInternalError(errUnrecorded)
	}
	o.Audit = record
	return nil
}

// path is the path of the target's URL.
func (t Target) path() string {
	p := "/apis/" + t.Resource.Group
	if t.Resource.Group == "" {
		p = "/api"
	}
	p += "/" + t.Resource.Version
	if t.Namespace != "" {
		p += "/namespaces/" + t.Namespace
	}
	p += "/" + t.Resource.Plural
	if t.Name != "" {
		p += "/" + t.Name
	}
	if t.Subresource != nil {
		p += "/" + t.Subresource.Name
	}
	return p
}

// recordEnd ends the record. err is the request's error, a Status error; panicked is the value of its panic.
func (o *Operation) recordEnd(err error, panicked any) {
	if o.Audit == nil {
		return
	}
	if panicked != nil {
		o.Audit.Panicked(panicked)
		return
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		st := s.Status()
		st.TypeMeta = statusType
		o.Audit.Status(&st)
	}
	o.Audit.Completed()
}

// recordBody records the object that the request sends.
func (o *Operation) recordBody(obj runtime.Object) {
	if o.Audit != nil {
		o.Audit.Object(obj, func() ([]byte, error) { return o.served(obj) })
	}
}

// served returns an object as JSON of the request's version. A custom resource keeps its version, as its conversion may
// call a webhook.
func (o *Operation) served(obj runtime.Object) ([]byte, error) {
	if o.Resource.Custom {
		return json.Marshal(obj)
	}
	out, err := obj.DeepCopyObject(), error(nil)
	if convert := o.Resource.FromStored; convert != nil {
		if out, err = convert(out); err != nil {
			return nil, err
		}
	}
	out.GetObjectKind().SetGroupVersionKind(o.Resource.GroupVersionKind())
	return json.Marshal(out)
}

// recordOther records a body of another kind than the resource's.
func (o *Operation) recordOther(body runtime.Object) {
	if o.Audit == nil {
		return
	}
	o.Audit.Object(body, func() ([]byte, error) {
		sent := body.DeepCopyObject()
		if sub := o.Subresource; sub != nil && !sub.Kind.Empty() {
			sent.GetObjectKind().SetGroupVersionKind(sub.Kind)
		} else {
			sent.GetObjectKind().SetGroupVersionKind(o.Resource.GroupVersionKind())
		}
		return json.Marshal(sent)
	})
}

// recordOptions records the options of a deletion, which client-go sends as the body.
func (o *Operation) recordOptions(opts *metav1.DeleteOptions) {
	if o.Audit == nil {
		return
	}
	o.Audit.Object(opts, func() ([]byte, error) {
		sent := *opts
		sent.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("DeleteOptions"))
		return json.Marshal(&sent)
	})
}

// code is that of the answer. err is the request's error, a Status error.
func (o *Operation) code(err error) int {
	if err != nil {
		return int(status.Of(err).Code)
	}
	return cmp.Or(o.answered, codeOK)
}

// recordAnswer records the answer of a request that did not fail.
func (o *Operation) recordAnswer(code int, out *storage.Object) {
	o.answered = code
	if o.Audit == nil {
		return
	}
	o.Audit.Started(code)
	if !o.Audit.Responses() {
		return
	}
	if data, err := o.answer(out); err == nil && len(data) > 0 {
		o.Audit.Response(data)
	}
}

// answer returns a stored object as JSON of the request's version, with the exception of served.
func (o *Operation) answer(out *storage.Object) ([]byte, error) {
	if o.Resource.Custom || o.Resource.FromStored == nil {
		return out.JSON, nil
	}
	obj, err := o.Decode(out)
	if err != nil {
		return nil, err
	}
	return o.served(obj)
}

// recordAnswerOther records an answer of another kind than the resource's; nil is a Status.
func (o *Operation) recordAnswerOther(code int, out runtime.Object) {
	o.answered = code
	if o.Audit == nil {
		return
	}
	if out == nil {
		out = &metav1.Status{TypeMeta: statusType, Status: metav1.StatusSuccess, Code: int32(code)}
	}
	if st, ok := out.(*metav1.Status); ok {
		o.Audit.Status(st)
	} else if o.Audit.Responses() {
		if data, err := json.Marshal(out); err == nil {
			o.Audit.Response(data)
		}
	}
	o.Audit.Started(code)
}

// recordDeletion records the answer of a DELETE (C-60 to C-62).
func (o *Operation) recordDeletion(d deletion) {
	switch {
	case !d.Removed && d.Accepted:
		o.recordAnswer(codeAccepted, d.Object)
	case o.Audit == nil: // the answer below is made for it
		o.answered = codeOK
	case !d.Removed || o.Resource.Delete.Returned:
		o.recordAnswer(codeOK, d.Object)
	default:
		o.recordAnswerOther(codeOK, o.RemovedStatus(d.Object))
	}
}
