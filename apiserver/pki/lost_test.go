package pki

import (
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLostFilesAreCreatedAgain: missing files are created again, and the log states the effect on clients.
func TestLostFilesAreCreatedAgain(t *testing.T) {
	const authority = "copies of earlier kubeconfigs and of ca.crt stop working"
	for name, c := range map[string]struct {
		lose []string
		// says is a text that exactly one line of the log has, or empty if nothing is logged.
		says, because string
		// renewed reports whether the authority was replaced, and aside are the files that are kept of the old one.
		renewed bool
		aside   string
	}{
		"authority's key":         {[]string{"ca.key"}, authority, "ca.key is missing", true, "ca.crt.old"},
		"authority's certificate": {[]string{"ca.crt"}, authority, "ca.crt is missing", true, "ca.key.old"},
		"authority":               {[]string{"ca.crt", "ca.key"}, authority, "ca.crt and ca.key are missing", true, ""},
		"tokens' key": {
			[]string{"service-account.key"}, "created a new key for service account tokens; earlier tokens are rejected",
			"service-account.key is missing", false, "",
		},
		"serving key":          {[]string{"apiserver.key"}, "", "", false, ""},
		"client's certificate": {[]string{"admin.crt"}, "", "", false, ""},
		"nothing":              {nil, "", "", false, ""},
		"everything": {[]string{
			"ca.crt", "ca.key", "admin.crt", "admin.key", "apiserver.crt", "apiserver.key", "service-account.key",
		},
			"", "", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			old := r.authority.cert
			for _, file := range c.lose {
				if err := os.Remove(filepath.Join(r.o.Dir, file)); err != nil {
					t.Fatal(err)
				}
			}
			r.start(t)
			lines := 1
			if c.says == "" {
				lines, c.says = 0, "level="
			}
			r.wantLines(t, lines, c.says)
			if !strings.Contains(r.log.String(), c.because) || strings.Count(r.log.String(), "level=WARN") != lines {
				t.Errorf("want %q in a warning:\n%s", c.because, &r.log)
			}
			if renewed := !r.authority.cert.Equal(old); renewed != c.renewed {
				t.Errorf("another authority: %v, want %v", renewed, c.renewed)
			}
			r.verify(t, r.serving.cert, x509.ExtKeyUsageServerAuth)
			r.verify(t, r.client.cert, x509.ExtKeyUsageClientAuth)
			kept, err := filepath.Glob(filepath.Join(r.o.Dir, "*.old"))
			if err != nil || strings.Join(kept, " ") != strings.TrimSuffix(filepath.Join(r.o.Dir, c.aside), r.o.Dir) {
				t.Errorf("set aside %v, want %s", kept, c.aside)
			}
			r.log.Reset()
			r.start(t)
			r.wantLines(t, 0, "level=")
		})
	}
}

// TestRestoredAuthorityIsUsed: the old authority is used again if its key is restored as described in the log.
func TestRestoredAuthorityIsUsed(t *testing.T) {
	r := newRig(t)
	old := r.authority.cert
	path := func(name string) string { return filepath.Join(r.o.Dir, name) }
	if err := os.Rename(path("ca.key"), path("away")); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	r.wantLines(t, 1, "restore the missing file, rename ca.crt.old to ca.crt, and start again")
	if err := errors.Join(
		os.Rename(path("away"), path("ca.key")), os.Rename(path("ca.crt.old"), path("ca.crt"))); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	if !r.authority.cert.Equal(old) {
		t.Error("the authority is another")
	}
}

// TestMismatchedKeyIsReplaced: a key that doesn't match its certificate is replaced.
func TestMismatchedKeyIsReplaced(t *testing.T) {
	r, other := newRig(t), newRig(t)
	data, err := os.ReadFile(filepath.Join(other.o.Dir, "ca.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(r.o.Dir, "ca.key"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	old := r.authority.cert
	r.start(t)
	r.wantLines(t, 1, "because=\"ca.key is not the key of ca.crt\"")
	if r.authority.cert.Equal(old) {
		t.Error("the authority is the old one, without its key")
	}
}

// TestUnreadable: the error names a file with invalid content and suggests a solution.
func TestUnreadable(t *testing.T) {
	for _, file := range []string{"ca.crt", "ca.key", "admin.crt", "apiserver.key", "service-account.key"} {
		for _, text := range []string{"", "garbage", "-----BEGIN X-----\nAAAA\n-----END X-----\n"} {
			r := newRig(t)
			path := filepath.Join(r.o.Dir, file)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Ensure(r.o)
			if err == nil || !strings.HasPrefix(err.Error(), "reading "+path+": ") ||
				!strings.HasSuffix(err.Error(), "restore it from a copy, or remove it to have a new one created") {
				t.Errorf("%q in %s: %v", text, file, err)
			}
		}
	}
}
