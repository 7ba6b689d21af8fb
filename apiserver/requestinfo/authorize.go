package requestinfo

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Authorize returns the error 403 unless the authorizer allows the request.
func Authorize(by authorization.Authorizer, a *authorization.Attributes) error {
	d := by.Authorize(a)
	if d.Allowed() {
		return nil
	}
	return Forbidden(a, d.Reason())
}

// NotHTML escapes a client's input, so that it is not interpreted as markup.
var NotHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Forbidden returns the error 403 with upstream's message (AS pkg/endpoints/handlers/responsewriters/errors.go:
// ForbiddenStatusError).
func Forbidden(a *authorization.Attributes, reason string) error {
	what := fmt.Sprintf("path %q", a.Path)
	if a.IsResource {
		resource, where := a.Resource, "at the cluster scope"
		if a.Subresource != "" {
			resource += "/" + a.Subresource
		}
		if a.Namespace != "" {
			where = fmt.Sprintf("in the namespace %q", a.Namespace)
		}
		what = fmt.Sprintf("resource %q in API group %q %s", resource, a.Group, where)
	}
	message := NotHTML.Replace(fmt.Sprintf("User %q cannot %s %s", a.User.Name, a.Verb, what))
	if reason != "" {
		message += ": " + reason
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, errors.New(message))
}
