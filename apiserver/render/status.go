package render

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
)

// Status sends a Status in the format that the client accepts. If the client accepts no format of a Status, the
// response is indented JSON (AS responsewriters: WriteObjectNegotiated).
func Status(w http.ResponseWriter, r *http.Request, code int, st *metav1.Status) {
	AuditOf(r).Status(st)
	f, err := Offer{Binary: true}.Negotiate(r, r.URL.Query())
	var data []byte
	if err != nil {
		f.Media = codec.MediaJSON
		data, err = json.MarshalIndent(st, "", "  ")
	} else if data, err = EncodeAs(st, f.Media); f.Media == codec.MediaJSON {
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
