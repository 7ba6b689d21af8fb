package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestVaryingValuesGetNames plays testdata/normalize: all cases up to a "new" share their names.
//
//	new
//	save name=NAME value=VALUE
//	fill                           puts saved values into a string
//	normalize [ignore=(PATH,...)]  of a JSON document
func TestVaryingValuesGetNames(t *testing.T) {
	var n *names
	datadriven.RunTest(t, "testdata/normalize", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "new":
			n = newNames("ref-test-12345")
		case "save":
			var name, value string
			d.ScanArgs(t, "name", &name)
			d.ScanArgs(t, "value", &value)
			n.save(name, value)
		case "fill":
			document, err := n.fillJSON([]byte(d.Input))
			return fmt.Sprintf("%s\nin JSON: %s, %v", n.fill(d.Input), document, err)
		case "normalize":
			ignore := []string{"metadata.managedFields"}
			for _, a := range d.CmdArgs {
				ignore = a.Vals
			}
			return show(n.body(response{contentType: "application/json", body: []byte(d.Input)}, ignore))
		}
		return ""
	})
}

// TestRecordedAndReceivedValuesAreCompared compares the values in testdata/compare: the recorded value, and the
// received one after it.
func TestRecordedAndReceivedValuesAreCompared(t *testing.T) {
	datadriven.RunTest(t, "testdata/compare", func(t *testing.T, d *datadriven.TestData) string {
		var both []any
		for line := range strings.Lines(d.Input) {
			v, err := decode([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			both = append(both, v)
		}
		f := Finding{Differences: compare(both[0], both[1], "")}
		if len(f.Differences) == 0 {
			return "equal"
		}
		var b strings.Builder
		f.text(&b, "")
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		return strings.Join(lines[1:len(lines)-1], "\n")
	})
}
