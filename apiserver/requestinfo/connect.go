package requestinfo

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DecodeConnect decodes query parameters into the options of a connection (PodExecOptions ...), whose fields have the
// names of the parameters. Invalid values result in a 400. Unknown parameters are ignored. (K
// pkg/apis/core/v1/conversion.go and its generated conversions from url.Values; AS pkg/endpoints/handlers/get.go:
// getRequestOptions.)
func DecodeConnect(q url.Values, into runtime.Object) error {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		values := q[name]
		if name == "" || len(values) == 0 {
			continue
		}
		if err := decodeParameter(values, v.Field(i).Addr().Interface()); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	return nil
}

// decodeParameter decodes the values of one parameter. If the field is not a list, the first value is used.
func decodeParameter(values []string, into any) error {
	switch into := into.(type) {
	case *bool:
		return runtime.Convert_Slice_string_To_bool(&values, into, nil)
	case *string:
		*into = values[0]
	case **string:
		*into = &values[0]
	case **int64:
		return runtime.Convert_Slice_string_To_Pointer_int64(&values, into, nil)
	case **metav1.Time:
		return metav1.Convert_Slice_string_To_Pointer_v1_Time(&values, into, nil)
	case *[]string:
		*into = values
	case *[]int32:
		return metav1.Convert_Slice_string_To_Slice_int32(&values, into, nil)
	default:
		return fmt.Errorf("decoding a query parameter as %T: not implemented", into)
	}
	return nil
}
