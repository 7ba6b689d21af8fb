package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// phrases has phrases that are hard to read, with the words to write instead.
var phrases = map[string]string{
	`(says?|said) (that|what)`: "reports whether, returns, prints",
	`(so|that) (many|much|long) (of|bytes|keys|events|requests|entries|seats)`: "the parameter's name: n bytes",
	`whatever`: "any", `(is|are) told`: "receives", `for ever`: "forever", `anew`: "again", `lately`: "recently",
	`knows? no`: "does not depend on", `by then`: "already", `whoever|somebody`: "the client, the user",
	`stands for`: "means", `can't go on`: "failed, stopped", `judges?|judged`: "authorize, admit, validate, decide",
	`looks at`: "reads", `meanwhile`: "in the meantime, at the same time", `what went wrong`: "error",
	`(a|the) lost race`: "a conflict",
}

// spoken are documents that quote recorded behaviour or history; they keep their words.
var spoken = regexp.MustCompile(`^docs/semantics.*\.md$|^CHANGELOG\.md$|/testdata/|^tests/.*/node_modules/|_test\.go$`)

// TestWordsAreTheFields: comments, messages and documents use the field's words.
func TestWordsAreTheFields(t *testing.T) {
	var all []string
	for p := range phrases {
		all = append(all, p)
	}
	any := regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)\b`)
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch ext := filepath.Ext(name); {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return filepath.SkipDir
		case d.IsDir() || ext != ".go" && ext != ".md" || spoken.MatchString(name):
			return nil
		}
		text, err := os.ReadFile(path)
		files++
		for i, line := range strings.Split(string(text), "\n") {
			if found := any.FindString(line); found != "" {
				t.Errorf("%s:%d: %q: write %s", name, i+1, found, instead(found))
			}
		}
		return err
	})
	if err != nil || files < 1000 {
		t.Errorf("read %d files: %v", files, err)
	}
}

// instead returns the words to write instead of a phrase.
func instead(found string) string {
	for p, words := range phrases {
		if regexp.MustCompile(`(?i)^(` + p + `)$`).MatchString(found) {
			return words
		}
	}
	return ""
}
