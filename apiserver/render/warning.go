package render

import (
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// Warnings sets the Warning headers (0-12).
func Warnings(h http.Header, l *invalid.Warnings) {
	for _, message := range l.Sent() {
		if value, err := utilnet.NewWarningHeader(299, "-", message); err == nil {
			h.Add("Warning", value)
		}
	}
}
