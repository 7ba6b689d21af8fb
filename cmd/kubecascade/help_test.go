package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kubecascade/kubecascade/internal/assets/help"
)

// TestKeptHelp: --help prints what is kept beside the link, which is what the program itself prints, and only for the
// program that printed it.
func TestKeptHelp(t *testing.T) {
	p := newPlane(t)
	for _, name := range []string{"etcd", "kube-apiserver"} {
		link := filepath.Join(p.assets, name)
		print := func(arg string) help.Answer {
			t.Helper()
			var stdout, stderr bytes.Buffer
			c := exec.Command(link, arg)
			c.Stdout, c.Stderr = &stdout, &stderr
			if err := c.Run(); err != nil {
				t.Fatalf("%s %s: %v", name, arg, err)
			}
			return help.Answer{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
		}
		equal := func(what string, got, want help.Answer) {
			t.Helper()
			if !bytes.Equal(got.Stdout, want.Stdout) || !bytes.Equal(got.Stderr, want.Stderr) {
				t.Errorf("%s: %s prints %q and %q, want %q and %q", what, name, got.Stdout, got.Stderr, want.Stdout, want.Stderr)
			}
		}
		file := filepath.Join(p.assets, help.File(link))
		kept := print("--help")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		own := print("--help")
		equal("without a file", own, kept)
		stamp, err := help.Stamp(link)
		if err != nil {
			t.Fatal(err)
		}
		other := help.Answer{Stdout: []byte("other\n"), Stderr: []byte("errors\n")}
		for _, c := range []struct {
			what, arg string
			content   []byte
			want      help.Answer
		}{
			{"another file", "--help", other.Encode(stamp), other},
			{"another file", "-h", other.Encode(stamp), own},
			{"of another program", "--help", other.Encode("size=1 modified=2"), own},
			{"broken", "--help", []byte(stamp + " stdout=1000\nx"), own},
			{"empty", "--help", nil, own},
		} {
			if err := os.WriteFile(file, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			equal(c.what, print(c.arg), c.want)
		}
	}
}
