package backup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/storage"
)

// mostNamespaces is the maximum number of namespaces that are printed for a resource.
const mostNamespaces = 3

// Print writes the report as text or as JSON.
func (r *Report) Print(w io.Writer, inJSON bool) error {
	if !inJSON {
		_, err := io.WriteString(w, r.Text())
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Text prints the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "file       %s, %s\n", r.File, bytesText(r.Bytes))
	hash := "none: it is the database of a data directory, without the writes that are only in the log beside it"
	if r.Hash == "verified" {
		hash = "verified"
	}
	fmt.Fprintf(&b, "hash       %s\n", hash)
	version := cmp.Or(r.EtcdVersion, "no version, as before 3.6 or in the first seconds of a new etcd")
	fmt.Fprintf(&b, "etcd       %s\n", version)
	history := "all of its history"
	if r.CompactedRevision > 0 {
		history = fmt.Sprintf("history since %d", r.CompactedRevision)
	}
	fmt.Fprintf(&b, "revision   %d, %s\n", r.Revision, history)
	fmt.Fprintf(&b, "prefix     %s", Visible(r.Prefix))
	if len(r.OtherPrefixes) > 0 {
		fmt.Fprintf(&b, "; others: %s (--etcd-prefix)", Visible(strings.Join(r.OtherPrefixes, ", ")))
	}
	fmt.Fprintf(&b, "\nkeys       %d: %d objects, %d internal, %d outside of the prefix\n",
		r.Keys, r.Objects, r.Internal, r.OutsidePrefix)
	for i, e := range r.Encryptions {
		label := "encrypted"
		if i > 0 {
			label = ""
		}
		by := &storage.Encryption{Provider: e.Provider, Key: e.Key}
		fmt.Fprintf(&b, "%-10s %s by %s\n", label, Count(e.Objects, "object"), by)
	}
	b.WriteString("\n" + r.resourcesText())
	if len(r.Largest) > 0 {
		b.WriteString("\nlargest objects:\n" + objectsText(r.Largest[:min(len(r.Largest), 5)]))
	}
	if n := r.UnreadableObjects; n > 0 {
		fmt.Fprintf(&b, "\n%s can't be read:\n%s", Count(n, "object"), objectsText(r.Unreadable))
		if more := n - len(r.Unreadable); more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
	}
	for i, u := range r.unserved() {
		if i == 0 {
			b.WriteString("\nnot served here: neither built in, nor defined by a CustomResourceDefinition of the backup:\n")
		}
		fmt.Fprintf(&b, "  %s: %s\n", Visible(u.Name()), Count(u.Objects, "object"))
	}
	if n := r.Problems; n > 0 {
		fmt.Fprintf(&b, "\n%s of ownership and deletion:\n", Count(n, "problem"))
		for line := range strings.Lines(explain.Report(r.Findings, explain.Style{})) {
			b.WriteString("  " + line)
		}
		if more := n - len(r.Findings); more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
	}
	return b.String()
}

func (r *Report) resourcesText() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "RESOURCE\tOBJECTS\tBYTES\tFORMAT\tNAMESPACES")
	for i := range r.Resources {
		res := &r.Resources[i]
		formats := slices.Sorted(maps.Keys(res.Encodings))
		names := make([]string, len(formats))
		for i, f := range formats {
			names[i] = string(f)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n",
			Visible(res.Name()), res.Objects, bytesText(res.Bytes), strings.Join(names, ","), namespacesText(res.Namespaces))
	}
	_ = w.Flush() // to memory
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// namespacesText names the namespaces with the most objects.
func namespacesText(namespaces map[string]int) string {
	if len(namespaces) == 0 {
		return "-"
	}
	names := slices.SortedFunc(maps.Keys(namespaces), func(a, b string) int {
		return cmp.Or(namespaces[b]-namespaces[a], strings.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(len(names), mostNamespaces)] {
		parts = append(parts, fmt.Sprintf("%s %d", Visible(name), namespaces[name]))
	}
	if more := len(names) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

func objectsText(list []Object) string {
	var b strings.Builder
	for _, o := range list {
		fmt.Fprintf(&b, "  %s, %s", Visible(o.Key), bytesText(int64(o.Bytes)))
		if o.Why != "" {
			b.WriteString(": " + Visible(o.Why))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Visible escapes control characters: the backup may be from an untrusted source, and a terminal would interpret them.
func Visible(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// Count returns "1 object" or "2 objects".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// bytesText returns a size in the largest unit that is not larger than the size.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
