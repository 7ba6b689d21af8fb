package endpoints

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
)

// recorded returns the rendering of the response in the audit log: JSON, even if the client gets another format (N-24).
func recorded(rendering *render.Rendering) *render.Rendering {
	y := *rendering
	y.Format.Media, y.Format.Pretty = codec.MediaJSON, false
	return &y
}

// recordObject records a decoded body in the version of the request, with defaults (N-23). A custom resource with
// another stored version is recorded before its conversion, which may call a webhook.
func (req *request) recordObject(sent runtime.Object, stored registry.Object) {
	if req.Resource.Custom && req.Resource.ToStored != nil {
		req.RecordOther(sent)
	} else {
		req.RecordBody(stored)
	}
}

// recordOptions records the options of a deletion if the client sent them in the body.
func (req *request) recordOptions(opts *metav1.DeleteOptions) {
	if len(req.info.Body) > 0 {
		req.RecordOptions(opts)
	}
}

// recordAnswer records the response that encode returns. It ignores an error of encode, which the client gets, too.
func (req *request) recordAnswer(rendering *render.Rendering, encode func(*render.Rendering) ([]byte, error)) {
	if !req.Audit.Responses() {
		return
	}
	if data, err := encode(recorded(rendering)); err == nil {
		req.Audit.Response(data)
	}
}

// annotateDeprecated records that the version is deprecated (AS pkg/endpoints/metrics/metrics.go: MonitorRequest).
func (req *request) annotateDeprecated() {
	if req.Audit == nil {
		return
	}
	req.Audit.Annotate("k8s.io/deprecated", "true")
	if req.Resource.New == nil {
		return
	}
	if release := req.Resource.RemovedRelease(); release != "" {
		req.Audit.Annotate("k8s.io/removed-release", release)
	}
}
