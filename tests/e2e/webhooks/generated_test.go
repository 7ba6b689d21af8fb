package webhooks

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGeneratedFilesAreCurrent: the generated files of the project are controller-gen's current output.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for _, g := range []struct {
		dir  string // the directory of the files in the project
		args []string
	}{
		{"api/v1", []string{"object", "paths=./project/api/v1"}},
		{"api/v2", []string{"object", "paths=./project/api/v2"}},
		{"config/crd/bases", []string{"crd", "paths=./project/..."}},
		{"config/webhook", []string{"webhook", "paths=./project/..."}},
	} {
		t.Run(g.dir, func(t *testing.T) {
			dir := t.TempDir()
			args := append([]string{"tool", "controller-gen", "output:dir=" + dir}, g.args...)
			if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != 1 {
				t.Fatalf("%v %v", files, err)
			}
			want, err := os.ReadFile(filepath.Join(dir, files[0].Name()))
			if err != nil {
				t.Fatal(err)
			}
			have, err := os.ReadFile(filepath.Join("project", g.dir, files[0].Name()))
			if err != nil || !bytes.Equal(have, want) {
				t.Errorf("%s differs: run go generate: %v", files[0].Name(), err)
			}
		})
	}
}
