package requestinfo

import (
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// DecodeQuery decodes query parameters into one of meta's option types. Invalid values result in a 400 (A-01, H-03).
func DecodeQuery(q url.Values, into runtime.Object) error {
	if err := checkSelectorLengths(q); err != nil {
		return err
	}
	if err := metascheme.ParameterCodec.DecodeParameters(q, metav1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// checkSelectorLengths returns an error for a selector that is too long, before it is parsed.
func checkSelectorLengths(q url.Values) error {
	for _, name := range []string{"labelSelector", "fieldSelector"} {
		for _, selector := range q[name] {
			if long := authorization.LongSelector(selector); long != "" {
				return apierrors.NewRequestEntityTooLargeError(name + " " + long)
			}
		}
	}
	return nil
}
