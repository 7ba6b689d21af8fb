package endpoints

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/apiserver/pkg/storage"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// encodeToken returns the token of a list that continues after the key at a revision (-1: the newest). The key has the
// prefix.
func encodeToken(last, prefix string, rev int64) string {
	token, err := upstream.EncodeContinue(last+"\x00", prefix, rev)
	if err != nil {
		panic(err)
	}
	return token
}

// decodeToken returns the full key at which the list continues, and the revision (H-15).
func decodeToken(text, prefix string) (from string, rev int64, err error) {
	if from, rev, err = upstream.DecodeContinue(text, prefix); err != nil {
		err = status.BadRequest("invalid continue token: %v", err)
	}
	return from, rev, err
}

// expiredToken returns the error for a token whose revision is compacted. The error has a token that continues at the
// newest revision (H-16).
func expiredToken(from, prefix string) error {
	err := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
		"Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	err.ErrStatus.ListMeta = metav1.ListMeta{Continue: encodeToken(strings.TrimSuffix(from, "\x00"), prefix, -1)}
	return err
}
