package endpoints

import (
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/trail"
)

// Sent implements registry.Sender.
func (req *request) Sent() trail.Sent {
	s := trail.Sent{
		Agent: req.r.UserAgent(), Verb: req.verb, AuditID: req.w.Header().Get("Audit-Id"),
	}
	if req.r.URL.RawQuery != "" || req.Name == "" || req.Subresource != nil {
		s.URI = requestinfo.Loggable(req.r.URL)
	}
	return s
}
