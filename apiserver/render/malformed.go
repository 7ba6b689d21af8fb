package render

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Malformed collects the unreadable objects of a list, if they make the list fail.
type Malformed struct {
	causes []metav1.StatusCause
}

// maxMalformed is the maximum number of keys in the Status of a list (AS etcd3/store.go: listErrAggrFactory).
const maxMalformed = 100

// Add adds an object. It returns false if the limit is reached (V-055).
func (m *Malformed) Add(key string, err error) (going bool) {
	m.causes = append(m.causes,
		metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: key, Message: err.Error()})
	return len(m.causes) < maxMalformed
}

// Err returns the error of the list, or nil if all objects are readable (AS etcd3/corrupt_obj_deleter.go:
// NewAPIStatusError).
func (m *Malformed) Err(res *resources.Resource) error {
	if m == nil || len(m.causes) == 0 {
		return nil
	}
	causes := m.causes
	message := fmt.Sprintf("failed to read one or more %s from the storage: %s", res.GroupResource(), causes[0].Message)
	if n := len(causes); n > 1 {
		message = fmt.Sprintf("%s (and %d more)", message, n-1)
	}
	if len(causes) == maxMalformed {
		causes = append(causes,
			metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError,
		Details: &metav1.StatusDetails{Group: res.Group, Kind: res.Plural, Name: "list", Causes: causes},
		Message: message}}
}
