package requestinfo

import (
	"net/url"
	"testing"
)

func TestOnlyKnownParametersAreLogged(t *testing.T) {
	for uri, want := range map[string]string{
		"/api/v1/pods": "/api/v1/pods",
		"/api/v1/pods?watch=true&labelSelector=a%3Db&limit=5":    "/api/v1/pods?watch=true&labelSelector=a%3Db&limit=5",
		"/api/v1/pods?watch&token=secret&limit=5":                "/api/v1/pods?watch&token=REDACTED&limit=5",
		"/api/v1/pods?access_token=a=b&Watch=secret":             "/api/v1/pods?access_token=REDACTED&Watch=REDACTED",
		"/api/v1/pods?%77atch=secret&;x=secret&limit=1;y=secret": "/api/v1/pods?%77atch=REDACTED&;x=REDACTED&limit=REDACTED",
		"/a%2Fb?=secret&&": "/a%2Fb?=REDACTED&&",
	} {
		u, err := url.ParseRequestURI(uri)
		if err != nil {
			t.Fatal(err)
		}
		if got := Loggable(u); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
}
