package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade/gc/explain"
)

const (
	// usageWidth is the maximum width of help in columns.
	usageWidth = 100
	// longestName is the maximum width of a flag's name and type that share a line with its usage.
	longestName = 42
	// ownLine is the column of usages if no flag shares a line with its usage.
	ownLine = 10
)

// usages returns the help of the flags, in their order: names and types in one column, usages in another. It replaces
// pflag's FlagUsagesWrapped, which doesn't wrap the rest of a usage after a word that is wider than the column, such as
// the name of a controller beside the longest flag.
func usages(flags *pflag.FlagSet) string {
	type entry struct{ name, usage string }
	var all []entry
	column := 0
	flags.VisitAll(func(f *pflag.Flag) {
		one := pflag.NewFlagSet("", pflag.ContinueOnError)
		one.AddFlag(f)
		line := strings.TrimRight(one.FlagUsages(), "\n") // "      --name type   usage"
		indent := len(line) - len(strings.TrimLeft(line, " "))
		name, usage, _ := strings.Cut(line[indent:], "  ")
		e := entry{line[:indent] + name, strings.TrimLeft(usage, " ")}
		if len(e.name) <= longestName {
			column = max(column, len(e.name)+3)
		}
		all = append(all, e)
	})
	if column == 0 {
		column = ownLine
	}
	var b strings.Builder
	for _, e := range all {
		b.WriteString(e.name)
		at := len(e.name)
		if at+3 > column { // the usage begins on the next line
			b.WriteByte('\n')
			at = 0
		}
		b.WriteString(strings.Repeat(" ", column-at))
		b.WriteString(strings.Join(explain.Wrap(e.usage, usageWidth-column), "\n"+strings.Repeat(" ", column)))
		b.WriteByte('\n')
	}
	return b.String()
}
