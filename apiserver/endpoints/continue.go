package endpoints

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// tokenVersion is the only supported version of continue tokens (H-15).
const tokenVersion = "meta.k8s.io/v1"

// continueToken is the position at which a list continues: a revision (-1: the newest), and a relative key.
type continueToken struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"`
}

// encodeToken returns the token of a list that continues after the key.
func encodeToken(last, prefix string, rev int64) string {
	data, err := json.Marshal(continueToken{tokenVersion, rev, strings.TrimPrefix(last, prefix) + "\x00"})
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// decodeToken returns the full key at which the list continues, and the revision (H-15).
func decodeToken(text, prefix string) (from string, rev int64, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", 0, badToken("%v", err)
	}
	var t continueToken
	if err := json.Unmarshal(data, &t); err != nil {
		// The message contains the name of the type. Upstream's type is in another package.
		return "", 0, badToken("%s", strings.ReplaceAll(err.Error(), "endpoints.continueToken", "storage.continueToken"))
	}
	switch {
	case t.Version != tokenVersion:
		return "", 0, badToken("server does not recognize this encoded version %s", t.Version)
	case t.Revision == 0:
		return "", 0, badToken("incorrect encoded start resourceVersion (version %s)", tokenVersion)
	case t.Start == "":
		return "", 0, badToken("encoded start key empty (version %s)", tokenVersion)
	}
	key := t.Start
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	if path.Clean(key) != key {
		return "", 0, badToken("%s", t.Start)
	}
	return prefix + key[1:], t.Revision, nil
}

func badToken(format string, args ...any) error {
	return status.BadRequest("invalid continue token: continue key is not valid: "+format, args...)
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
