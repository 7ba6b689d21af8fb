package endpoints

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/patch"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/storage"
)

// eventCopies is how many copies of a recorded object exist at a time: the object, the growing event that has it, the
// event as a string, and what is written.
const eventCopies = 6

// recordedBody is the memory of the body of a request in the audit log.
func (q *request) recordedBody(size int) int64 {
	if !q.Audit.Requests() {
		return 0
	}
	return eventCopies * int64(size)
}

// recordedAnswer is the memory of an answer of so many bytes in the audit log, once it is encoded.
func (q *request) recordedAnswer(size int64) int64 {
	if !q.Audit.Responses() {
		return 0
	}
	return eventCopies * size
}

// recordCost is the memory of making an answer with these objects for the audit log, and of recording it.
func (q *request) recordCost(x *render.Rendering, objs []*storage.Object) int64 {
	if !q.Audit.Responses() {
		return 0
	}
	return recorded(x).Cost(q.r, objs) + eventCopies*sizeOf(objs)
}

// recorded is the rendering of the answer in the audit log: in JSON, whatever the client accepts (N-24).
func recorded(x *render.Rendering) *render.Rendering {
	y := *x
	y.Format.Media, y.Format.Pretty = codec.MediaJSON, false
	return &y
}

// release gives the request's memory back: with an audit log, when the last event has been written.
func (q *request) release() {
	if q.Audit == nil {
		q.memory.Release()
		return
	}
	q.Audit.Release(q.memory.Release)
}

// recordObject records a decoded body in the version of the endpoint, with defaults (N-23). A custom resource that is
// stored in another version is recorded before its conversion, which may call a webhook.
func (q *request) recordObject(sent runtime.Object, stored registry.Object) {
	switch {
	case q.Audit == nil:
	case q.Resource.Custom && q.Resource.ToStored != nil:
		q.recordOther(sent)
	default:
		q.Audit.Object(stored, func() ([]byte, error) {
			obj, err := stored.DeepCopyObject(), error(nil)
			if !q.Resource.Direct && q.Resource.FromStored != nil {
				if obj, err = q.Resource.FromStored(obj); err != nil {
					return nil, err
				}
			}
			obj.GetObjectKind().SetGroupVersionKind(q.Resource.GroupVersionKind())
			return render.EncodeAs(obj, codec.MediaJSON)
		})
	}
}

// recordOther records a decoded body as it is.
func (q *request) recordOther(obj runtime.Object) {
	if q.Audit != nil {
		q.Audit.Object(obj, func() ([]byte, error) { return render.EncodeAs(obj, codec.MediaJSON) })
	}
}

// recordPatch records a patch. An apply document in YAML becomes JSON (O-09).
func (q *request) recordPatch(p patch.Patch) {
	if !q.Audit.Requests() {
		return
	}
	data, err := p.Bytes, error(nil)
	if p.Kind != types.ApplyYAMLPatchType || json.Valid(data) {
		err = codec.CheckWork(data)
	} else if err = codec.CheckYAML(data); err == nil {
		data, err = yaml.YAMLToJSON(data)
	}
	if err != nil { // its length is limited, but not what it takes to decode it
		q.Audit.MalformedPatch(p.Bytes)
		return
	}
	q.Audit.Patch(data)
}

// recordOptions records the options of a deletion if they were sent as a body.
func (q *request) recordOptions(o *metav1.DeleteOptions) {
	if q.Audit == nil || len(q.body()) == 0 {
		return
	}
	sent := *o
	if sent.Kind == "" {
		sent.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("DeleteOptions"))
	}
	q.recordOther(&sent)
}

// recordAnswer records an answer, which encode makes. An answer that can't be encoded is an error for the client, too.
func (q *request) recordAnswer(x *render.Rendering, encode func(*render.Rendering) ([]byte, error)) {
	if !q.Audit.Responses() {
		return
	}
	if data, err := encode(recorded(x)); err == nil {
		q.Audit.Response(data)
	}
}

// recordAnswerOther records an answer of another kind than the resource's.
func (q *request) recordAnswerOther(shown runtime.Object) {
	if st, ok := shown.(*metav1.Status); ok {
		q.Audit.Status(st)
		return
	}
	if !q.Audit.Responses() {
		return
	}
	if data, err := render.EncodeAs(shown, codec.MediaJSON); err == nil {
		q.Audit.Response(data)
	}
}

// annotateDeprecated records that the version is deprecated (AS pkg/endpoints/metrics/metrics.go: MonitorRequest).
func (q *request) annotateDeprecated() {
	if q.Audit == nil {
		return
	}
	q.Audit.Annotate("k8s.io/deprecated", "true")
	if q.Resource.New == nil {
		return
	}
	if release := entry.RemovedRelease(q.Resource.New()); release != "" {
		q.Audit.Annotate("k8s.io/removed-release", release)
	}
}
