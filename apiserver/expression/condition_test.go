package expression

import (
	"os"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"
)

// recordedConditions are the match conditions of the recorded cases, by name.
func recordedConditions(t *testing.T) map[string][]admissionv1.MatchCondition {
	t.Helper()
	var all []struct {
		Name string
		Hook struct{ MatchConditions []admissionv1.MatchCondition }
	}
	data, err := os.ReadFile("../../conformance/recorded/admission/webhooks.yaml")
	if err == nil {
		err = yaml.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]admissionv1.MatchCondition{}
	for _, c := range all {
		if len(c.Hook.MatchConditions) > 0 {
			cases[c.Name] = c.Hook.MatchConditions
		}
	}
	return cases
}

// TestRecordedConditions: match conditions of webhooks match, exclude and fail as upstream's do (L-41 to L-45).
func TestRecordedConditions(t *testing.T) {
	cases := recordedConditions(t)
	for _, section := range []string{"m", "v"} {
		answers := recorded(t, "measured-webhooks.txt", section)
		for name := range answers {
			if _, ok := cases[name]; strings.HasPrefix(name, "condition") && !ok {
				t.Errorf("%s: it is not evaluated", name)
			}
		}
		for name, conditions := range cases {
			t.Run(section+" "+name, func(t *testing.T) {
				failure := admissionv1.Fail
				if strings.HasSuffix(name, "Ignore") {
					failure = admissionv1.Ignore
				}
				version := creation().In(podKind, pods, examplePod(), nil)
				got := CompileConditions(conditions).Match(t.Context(), version, bindings(), &failure)
				want, ok := answers[name]
				_, said, _ := strings.Cut(want.message, "forbidden: ")
				switch {
				case !ok:
					t.Error("there is no recorded answer")
				case want.denied != (got.Err != nil):
					t.Errorf("got error %v, want %q", got.Err, said)
				case want.denied && got.Err.Error() != said:
					t.Errorf("got %q\nwant %q", got.Err, said)
				case !want.denied && got.Matches != strings.Contains(name, "authorizer"):
					t.Errorf("it matches: %v", got.Matches)
				}
			})
		}
	}
}
