package render

import (
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Warnings sets the Warning headers (0-12).
func Warnings(h http.Header, messages []string) {
	for _, message := range messages {
		if value, err := utilnet.NewWarningHeader(299, "-", message); err == nil {
			h.Add("Warning", value)
		}
	}
}
