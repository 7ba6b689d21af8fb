package endpoints

import (
	"net/url"
	"testing"
)

// TestInitialEventsFollowParameters: a watch begins with all objects on request, or if it has no revision.
func TestInitialEventsFollowParameters(t *testing.T) {
	for query, want := range map[string]bool{
		"": true, "resourceVersion=0": true, "resourceVersion=5": false, "resourceVersion=5&sendInitialEvents=1": true,
		"resourceVersion=0&sendInitialEvents=false": false, "resourceVersion=5&sendInitialEvents=x": false,
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := listsAll("watch", q); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	if !listsAll("list", nil) || listsAll("get", nil) {
		t.Error("other verbs")
	}
}
