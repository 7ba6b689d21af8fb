package endpoints

import (
	"net/url"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

func createOptions(query url.Values) (*metav1.CreateOptions, error) {
	opts := &metav1.CreateOptions{}
	if err := requestinfo.DecodeQuery(query, opts); err != nil {
		return nil, err
	}
	return opts, invalid.Options("CreateOptions", metav1validation.ValidateCreateOptions(opts))
}

func updateOptions(query url.Values) (*metav1.UpdateOptions, error) {
	opts := &metav1.UpdateOptions{}
	if err := requestinfo.DecodeQuery(query, opts); err != nil {
		return nil, err
	}
	return opts, invalid.Options("UpdateOptions", metav1validation.ValidateUpdateOptions(opts))
}

// listOptions reads and checks the options of a list or watch (H-01, H-02), and sets the defaults of a watch (H-26).
func listOptions(query url.Values) (*metainternal.ListOptions, error) {
	opts := &metainternal.ListOptions{}
	if err := requestinfo.DecodeQuery(query, opts); err != nil {
		return nil, err
	}
	metainternal.SetListOptionsDefaults(opts, true)
	return opts, invalid.Options("ListOptions", metainternalvalidation.ValidateListOptions(opts, true))
}
