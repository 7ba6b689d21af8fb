package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNewRecordingEqualsItsFile: a scenario with its recorded responses is its file, byte for byte. So a new recording
// shows only the changes.
func TestNewRecordingEqualsItsFile(t *testing.T) {
	for _, s := range load(t, "") {
		var answers []any
		for _, st := range s.steps {
			answers = append(answers, st.Expect.any)
		}
		have, err := s.recorded(answers)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("../recorded", s.Name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Errorf("%s (-file +written):\n%s", s.Name, diff)
		}
	}
}

// TestUnknownFieldOfRecordingIsAnError: an unknown field of a recording is an error. It is not omitted from the
// comparison.
func TestUnknownFieldOfRecordingIsAnError(t *testing.T) {
	for file, want := range map[string]string{
		`{"steps":[{"do":"settle"}]}`:                 "b.json: step 0: the action \"settle\" is unknown",
		`{"steps":[{"do":"request","unknown":true}]}`: "b.json: json: unknown field",
		`[]`: "b.json: json: cannot unmarshal array",
		`{`:  "b.json: unexpected EOF",
	} {
		_, err := Load(map[string][]byte{"a.json": []byte("{}"), "b.json": []byte(file)}, "")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}

func TestScenariosOfDirectoryAreLoadedInOrder(t *testing.T) {
	files := map[string][]byte{}
	for _, path := range []string{"scenarios/b.json", "scenarios/a.json", "owners/a.json"} {
		files[path] = []byte("{}")
	}
	var names []string
	all, err := Load(files, "scenarios/")
	for _, s := range all {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"scenarios/a", "scenarios/b"}, names); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
