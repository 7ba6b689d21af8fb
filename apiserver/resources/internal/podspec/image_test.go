package podspec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// FuzzLatest: a reference without a tag means the same as the reference with the tag latest. Another tag never means
// latest.
func FuzzLatest(f *testing.F) {
	for _, seed := range []string{"nginx", "a/b", "localhost:5000/a", "[::1]/a", "A", "", "a__b", "docker.io/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, image string) {
		_, last, _ := strings.Cut(image, "/")
		if last == "" {
			last = image
		}
		if strings.ContainsAny(last, ":@") || imageID.MatchString(image) {
			return
		}
		if a, b := latest(image), latest(image+":latest"); a != b {
			t.Errorf("%q: %v, with its tag: %v", image, a, b)
		}
		if latest(image + ":v1") {
			t.Errorf("%q:v1 is latest", image)
		}
	})
}

// TestDefaultPullPolicy prints the policy for each image of testdata/image.
func TestDefaultPullPolicy(t *testing.T) {
	datadriven.RunTest(t, "testdata/image", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "pull" {
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
		var b strings.Builder
		for _, image := range strings.Split(d.Input, "\n") {
			fmt.Fprintf(&b, "%s: %s\n", image, DefaultPullPolicy(image))
		}
		return b.String()
	})
}
