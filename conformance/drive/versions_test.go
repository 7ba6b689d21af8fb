package drive

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// TestOperationsNameAllVersionsOfCustomKinds: random operations name all versions of the custom kinds, in paths, bodies
// and owner references, and the CRDs serve them all and store one.
func TestOperationsNameAllVersionsOfCustomKinds(t *testing.T) {
	s := &Session{prefix: "p-"}
	s.uids, s.symbols = map[model.UID]string{}, map[string]model.UID{}
	seen := map[string]bool{}
	for _, op := range model.Generate(1, 2000, model.Options{}) {
		for _, o := range op.Owners {
			if k := model.KindOf(o.Kind); k.Custom && k.Serves(o.APIVersion) {
				seen["owner "+o.Kind+" "+o.APIVersion] = true
			}
		}
		if !model.KindOf(op.Key.Kind).Custom {
			continue
		}
		r := s.Request(op)
		if !strings.HasPrefix(r.Path, "/apis/p-"+op.APIVersion()+"/") {
			t.Fatalf("%s is sent to %s", op, r.Path)
		}
		if op.Verb == model.Create || op.Verb == model.Put {
			var body answer
			if err := json.Unmarshal(r.Body, &body); err != nil || body.APIVersion != "p-"+op.APIVersion() {
				t.Fatalf("%s is sent as %s: %v", op, r.Body, err)
			}
		}
		seen[string(op.Verb)+" "+op.Key.Kind+" "+op.APIVersion()] = true
	}
	for _, k := range model.Kinds {
		if !k.Custom {
			continue
		}
		for _, v := range k.Versions() {
			for _, did := range []string{"owner", "create", "put", "merge", "delete"} {
				if !seen[did+" "+k.Name+" "+v] {
					t.Errorf("no operation is: %s %s %s", did, k.Name, v)
				}
			}
		}
		if !slices.Contains(k.Versions(), k.Stored) || strings.Count(string(s.definition(k).Body), `"storage":true`) != 1 {
			t.Errorf("%s: %s", k.Name, s.definition(k).Body)
		}
	}
}
