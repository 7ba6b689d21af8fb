package extensions

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// startWebhook returns a conversion webhook and its certificate. It renames a field, and adds one that no schema has.
func startWebhook(t *testing.T) (*httptest.Server, []byte) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review tree
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request := review["request"].(tree)
		var converted []any
		for _, obj := range request["objects"].([]any) {
			converted = append(converted, convert(obj.(tree), request["desiredAPIVersion"].(string)))
		}
		review["response"] = tree{"uid": request["uid"], "convertedObjects": converted, "result": tree{"status": "Success"}}
		delete(review, "request")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Errorf("answering a conversion review: %v", err)
		}
	}))
	t.Cleanup(s.Close)
	return s, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// convert renames a field of an object to its name in a version.
func convert(obj tree, to string) tree {
	from, _ := obj["apiVersion"].(string)
	obj["apiVersion"] = to
	spec, _ := obj["spec"].(tree)
	if spec == nil {
		return obj
	}
	a, b := name(from), name(to)
	if v, found := spec[a]; found && a != b {
		delete(spec, a)
		spec[b] = v
	}
	spec["u"] = "unknown"
	return obj
}

// name returns the field's name in a version.
func name(apiVersion string) string {
	if strings.HasSuffix(apiVersion, "/v1") {
		return "a"
	}
	return "e"
}
