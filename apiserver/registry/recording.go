package registry

import (
	"cmp"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// HTTP status codes for the requests of the in-process client.
const (
	codeOK       = 200
	codeCreated  = 201
	codeAccepted = 202
)

// methodOf returns the HTTP method of a request of the in-process client. It is empty for lists and watches. These read
// the cache, as upstream's controllers read their informers, without a request.
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

// statusType is the type of a response that is a Status.
var statusType = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}

// record starts the request's record in the audit log, if there is a log. An error rejects the request (N-17).
func (l *Loopback) record(verb string, r *Request) error {
	method := methodOf(verb)
	if l.s.Audit == nil || method == "" {
		return nil
	}
	a := &authorization.Attributes{
		User: l.user, Verb: verb, IsResource: true, Path: r.path(), Group: r.Resource.Group, Version: r.Resource.Version,
		Resource: r.Resource.Plural, Subresource: r.subName(), Namespace: r.Namespace, Name: r.Name,
	}
	if a.Resource == "namespaces" && a.Group == "" { // as in requests of clients
		a.Namespace = a.Name
	}
	record := l.s.Audit.BeginOwn(method, l.s.Agent+"/"+l.user.Name, a)
	if record != nil {
		if err := record.Received(); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	r.Audit = record
	return nil
}

// recordEnd completes the record. err is the request's Status error, panicked the value of its panic.
func (r *Request) recordEnd(err error, panicked any) {
	if r.Audit == nil {
		return
	}
	if panicked != nil {
		r.Audit.Panicked(panicked)
		return
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		st := s.Status()
		st.TypeMeta = statusType
		r.Audit.Status(&st)
	}
	r.Audit.Completed()
}

// RecordBody records the object that the request sends, as JSON in the version of the request. A custom resource keeps
// its version, because its conversion may call a webhook.
func (r *Request) RecordBody(obj runtime.Object) {
	if r.Audit != nil {
		r.Audit.Object(obj, func() ([]byte, error) { return servedJSON(r.Resource, obj) })
	}
}

func servedJSON(res *resources.Resource, obj runtime.Object) ([]byte, error) {
	if !res.Custom {
		obj = obj.DeepCopyObject()
	}
	out, err := served(res, obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// RecordOther records a request body that is of another kind than the resource.
func (r *Request) RecordOther(body runtime.Object) {
	if r.Audit == nil {
		return
	}
	r.Audit.Object(body, func() ([]byte, error) {
		if !body.GetObjectKind().GroupVersionKind().Empty() {
			return json.Marshal(body)
		}
		out, kind := body.DeepCopyObject(), r.Resource.GroupVersionKind()
		if sub := r.Subresource; sub != nil && !sub.Kind.Empty() {
			kind = sub.Kind
		}
		out.GetObjectKind().SetGroupVersionKind(kind)
		return json.Marshal(out)
	})
}

// RecordOptions records the options of a deletion. client-go sends them as the body.
func (r *Request) RecordOptions(opts *metav1.DeleteOptions) {
	if r.Audit == nil {
		return
	}
	sent := *opts
	if sent.Kind == "" {
		sent.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("DeleteOptions"))
	}
	r.RecordOther(&sent)
}

// answer is the response to a request of the in-process client, as a client gets it over HTTP.
type answer struct {
	// code is 0 for codeOK.
	code int
	// object is of the request's resource. other is of another kind. If both are nil, the response is a Status.
	object *storage.Object
	other  runtime.Object
}

// recordAnswer records the response to a successful request.
func (r *Request) recordAnswer(a answer) {
	if r.Audit == nil {
		return
	}
	code := cmp.Or(a.code, codeOK)
	switch {
	case a.object != nil:
		if r.Audit.Responses() {
			r.recordStored(a.object)
		}
	case a.other != nil:
		r.RecordAnswer(a.other)
	default:
		r.RecordAnswer(&metav1.Status{TypeMeta: statusType, Status: metav1.StatusSuccess, Code: int32(code)})
	}
	r.Audit.Started(code)
}

// RecordAnswer records a response of another kind than the resource.
func (r *Request) RecordAnswer(other runtime.Object) {
	if st, ok := other.(*metav1.Status); ok {
		r.Audit.Status(st)
	} else if r.Audit.Responses() {
		if data, err := json.Marshal(other); err == nil {
			r.Audit.Response(data)
		}
	}
}

// recordStored records a stored object as the response, in the same version as servedJSON.
func (r *Request) recordStored(out *storage.Object) {
	data := out.JSON
	if !r.Resource.Custom && r.Resource.FromStored != nil {
		obj, err := Decode(r.Resource, out)
		if err == nil {
			data, err = servedJSON(r.Resource, obj)
		}
		if err != nil {
			return
		}
	}
	r.Audit.Response(data)
}
