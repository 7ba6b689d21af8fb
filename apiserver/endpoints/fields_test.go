package endpoints_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestReviewMetadata: the metadata of a review has no effect, but is limited like that of other objects.
func TestReviewMetadata(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	items := strings.TrimSuffix(strings.Repeat("{},", 50_000), ",")
	for field, code := range map[string]int{
		"managedFields": http.StatusRequestEntityTooLarge, "ownerReferences": http.StatusUnprocessableEntity,
	} {
		var a apiservertest.Answer
		n := allocated(func() {
			a = s.Do("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
				fmt.Sprintf(`{"metadata":{%q:[%s]},"spec":{"resourceAttributes":{"verb":"list","resource":"pods"}}}`, field, items))
		})
		if a.Code != code || len(a.Body) > 4096 {
			t.Errorf("%s: %d, %d bytes: %.300s", field, a.Code, len(a.Body), a.Body)
		}
		if n > 160<<20 { // most of it for the decoded items, 100 bytes each
			t.Errorf("%s: %d MiB were allocated", field, n>>20)
		}
	}
}
