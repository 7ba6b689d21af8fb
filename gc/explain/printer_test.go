package explain

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// hostile has names that RBAC objects may have (path segments), and that a shell, a terminal or HTML would interpret.
var hostile = []string{
	"$(reboot)", "`reboot`", "a;reboot", "it's", `a"b\n`, "--all", "-n", "a b", "*", "~", "#",
	"<b>&lt;", "\x1b]0;t\x07\x1b[2J",
	"a\nb'\\c\x1be", "é\u202eb", "",
}

// plain returns the text without the sequences of paint.
func plain(text string) string { return painted.ReplaceAllString(text, "") }

// TestHostileCommands: a shell parses each name in the commands of remedies as one word, which is not a flag.
func TestHostileCommands(t *testing.T) {
	for _, name := range hostile[:len(hostile)-1] {
		o := ObjectReference{Name: name, resource: "clusterroles.rbac.authorization.k8s.io"}
		for _, command := range []string{remove(o).Command, patch(o, "/x", "", name)} {
			sh := "sh"
			if visible(name) != name {
				sh = "bash" // a shell of the standard knows no escapes
			}
			path, err := exec.LookPath(sh)
			if err != nil {
				t.Skip(err)
			}
			script := `kubectl() { printf "%s\0" "$@"; }; ` + command
			got, err := exec.CommandContext(t.Context(), path, "-c", script).Output()
			if err != nil {
				t.Fatalf("%s: %v", script, err)
			}
			words := strings.Split(string(got), "\x00")
			at, word := 2, name
			if strings.HasPrefix(name, "-") {
				at, word = 1, o.resource+"/"+name
			}
			if words[at] != word {
				t.Errorf("%s: %q", command, words)
			}
			if visible(command) != command {
				t.Errorf("%q has control characters", command)
			}
		}
	}
}

// TestHostileText: no text has control characters except those of its own colours, and no diagram has markup.
func TestHostileText(t *testing.T) {
	for _, name := range hostile {
		k := graph.Key{Collection: "clusterroles.rbac.authorization.k8s.io", Name: name}
		c := &Cluster{Resources: resources(), Now: now, Objects: []*Object{{
			Key: k, UID: "r", Finalizers: []string{name}, Deletion: now,
			Owners: []graph.Owner{{APIVersion: name, Kind: name, Name: name, UID: name}},
		}}}
		x := c.Index()
		tree := x.Tree(k)
		texts := []string{
			tree.Text(Style{}), tree.Draw("mermaid"), tree.Draw("dot"), x.Why(k).Text(Style{}), Report(x.Lint(""), Style{}),
			x.Preview([]graph.Key{k}, finalizers.Options{}).Text(Style{}),
		}
		for _, text := range texts {
			if text = strings.ReplaceAll(text, "\n", ""); visible(text) != text {
				t.Errorf("%q: %q", name, text)
			}
		}
		label := strings.ReplaceAll(tree.Draw("mermaid"), "<br>", "")
		if strings.Contains(label, "<b") || strings.Contains(label, "&lt;") {
			t.Errorf("%q: %s", name, label)
		}
		colored := plain(tree.Text(Style{Color: true}))
		if want := tree.Text(Style{}); colored != want {
			t.Errorf("%q: %q with colours, %q without", name, colored, want)
		}
	}
}
