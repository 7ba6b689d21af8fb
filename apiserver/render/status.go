package render

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Status sends a Status in the format that the client accepts. If the client accepts no format of a Status, the
// response is indented JSON (AS responsewriters: WriteObjectNegotiated).
func Status(w http.ResponseWriter, r *http.Request, code int, st *metav1.Status) {
	AuditOf(r).Status(st)
	f, err := Offer{Binary: true}.Negotiate(r, r.URL.Query())
	var data []byte
	switch {
	case err != nil:
		f.Media = codec.MediaJSON
		data, err = json.MarshalIndent(st, "", "  ")
	case f.Media == codec.MediaProtobuf:
		data, err = runtime.Encode(protobuf.NewSerializer(resources.Scheme(), resources.Scheme()), st)
	case f.Media == codec.MediaYAML:
		data, err = yaml.Marshal(st)
	default:
		data, err = json.Marshal(st)
		data = Indent(append(data, '\n'), f.Pretty)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", f.Media)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(code)
	w.Write(data)
}
