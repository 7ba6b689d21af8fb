package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/conformance/cases"
	"github.com/kubecascade/kubecascade/conformance/recorded"
	"github.com/kubecascade/kubecascade/conformance/replay"
	"github.com/kubecascade/kubecascade/controllers"
)

// values returns the values that a shell offers for a flag, each with a description after a tab if there is one. The
// shell drops those that don't begin with what was typed.
type values func(c *cobra.Command, typed string) []string

// flagValues returns the flags with known values, for each command that has them.
func flagValues() map[string]cobra.CompletionFunc {
	return map[string]cobra.CompletionFunc{
		"controllers":               list(controllerWords),
		"authorization-mode":        list(fixed(apiserver.Modes()...)),
		"enable-admission-plugins":  list(fixed(admission.Names()...)),
		"disable-admission-plugins": list(fixed(admission.Names()...)),
		"feature-gates":             list(gateWords),
		"runtime-config":            list(versionWords),
		"logging-format":            one(fixed("text", "json")),
		"audit-log-format":          one(fixed("json", "legacy")),
		"audit-log-mode":            one(fixed(audit.Modes...)),
		"output":                    completeOutput,
		"from":                      one(fixed(fromServer, fromLists)),
		"context":                   one(contexts),
		"cascade":                   one(fixed("background", "foreground", "orphan")),
		"run":                       one(caseNames),
		"skip":                      one(caseNames),
		"only":                      one(scenarioNames),
	}
}

// directories and files are the flags whose value is a path; the values of other flags are not completed with the names
// of files.
var (
	directories = []string{"data-dir", "dir", "recorded", "record"}
	files       = []string{
		"kubeconfig", "kubeconfig-out", "certificate-authority", "audit-log-path", "simulate-nodes", "filename",
		"from-snapshot", "encryption-provider-config", "faults",
	}
)

// isFile reports whether the value of a flag is a file, as Kubernetes names such flags.
func isFile(name string) bool {
	return slices.Contains(files, name) || slices.ContainsFunc([]string{"-file", "-cafile", "-certfile", "-keyfile"},
		func(end string) bool { return strings.HasSuffix(name, end) })
}

// complete lets shells complete the values of all flags below c that have no completion of their own.
func complete(c *cobra.Command) {
	known := flagValues()
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		var complete cobra.CompletionFunc
		if _, ok := c.GetFlagCompletionFunc(f.Name); ok {
			return
		}
		switch {
		case known[f.Name] != nil:
			complete = known[f.Name]
		case slices.Contains(directories, f.Name):
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case isFile(f.Name):
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
		default:
			complete = cobra.NoFileCompletions
		}
		if err := c.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // a flag has two
		}
	})
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range c.Commands() {
		complete(sub)
	}
}

// offer registers the values of one flag of a command.
func offer(c *cobra.Command, flag string, of values) {
	if err := c.RegisterFlagCompletionFunc(flag, one(of)); err != nil {
		panic(err) // it has two
	}
}

// fixed returns values that are always the same.
func fixed(words ...string) values { return func(*cobra.Command, string) []string { return words } }

// one completes a single value.
func one(of values) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return of(c, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// list completes the last value of a list with commas. It omits values that are in the list already. It adds no space,
// because a comma may follow. Values after a comma have no description: otherwise cobra's script for bash compares all
// values with commas escaped, and offers none (__*_handle_standard_completion_case).
func list(of values) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before, last := "", typed
		if i := strings.LastIndexByte(typed, ','); i >= 0 {
			before, last = typed[:i+1], typed[i+1:]
		}
		has := strings.Split(before, ",")
		var offered []string
		for _, v := range of(c, last) {
			word, _, _ := strings.Cut(v, "\t")
			if slices.Contains(has, word) {
				continue
			}
			if before != "" {
				v = word
			}
			offered = append(offered, before+v)
		}
		return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// controllerWords returns the words of --controllers; with a hyphen, those that disable a controller.
func controllerWords(_ *cobra.Command, typed string) []string {
	if strings.HasPrefix(typed, "-") {
		var off []string
		for _, name := range controllers.Names() {
			off = append(off, "-"+name)
		}
		return off
	}
	return append([]string{"*\tall that are on by default", controllers.None + "\tno controller"},
		controllers.Names()...)
}

// gateWords returns the feature gates with both values.
func gateWords(*cobra.Command, string) (words []string) {
	for name := range kubecascade.FeatureGates() {
		words = append(words, name+"=true", name+"=false")
	}
	slices.Sort(words)
	return words
}

// versionWords returns the versions that --runtime-config enables, and the names of several.
func versionWords(*cobra.Command, string) (words []string) {
	for _, v := range append([]string{"api/all", "api/beta", "api/alpha"}, resources.NotByDefault()...) {
		words = append(words, v+"=true")
	}
	return words
}

// caseNames returns the conformance cases; they may follow the ^ of a regular expression.
func caseNames(_ *cobra.Command, typed string) (names []string) {
	start := typed[:len(typed)-len(strings.TrimPrefix(typed, "^"))]
	for _, c := range cases.All() {
		names = append(names, start+c.Name+"\t"+c.Proves)
	}
	return names
}

// scenarioNames returns the recorded scenarios of "conformance replay"; none if they can't be read.
func scenarioNames(*cobra.Command, string) []string {
	recordings, err := recorded.Files()
	if err != nil {
		return nil
	}
	return replay.Paths(recordings)
}

// contexts returns the contexts of the file that --kubeconfig names, or of the files of $KUBECONFIG for commands that
// use $KUBECONFIG; none if the files can't be read.
func contexts(c *cobra.Command, _ string) []string {
	path, err := c.Flags().GetString("kubeconfig")
	if err != nil {
		return nil
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}
	if path == "" && usesEnvironment(c.Flags()) {
		rules.Precedence = kubeconfigs()
	}
	if path == "" && len(rules.Precedence) == 0 {
		return nil
	}
	return contextsOf(rules)
}

// contextsOf returns the contexts of files, with the cluster of each.
func contextsOf(rules *clientcmd.ClientConfigLoadingRules) (names []string) {
	config, err := rules.Load()
	if err != nil {
		return nil
	}
	for name, context := range config.Contexts {
		names = append(names, name+"\tcluster "+context.Cluster)
	}
	slices.Sort(names)
	return names
}

// formats returns the values of --output, by the commands that have the flag.
func formats(c *cobra.Command) []string {
	switch c.Name() {
	case "version":
		return versionFormats
	case "replay":
		return []string{"text", "json"}
	}
	if listed, _ := c.Flags().GetBool("list"); listed { // conformance
		return []string{"text", "json", "markdown"}
	}
	return []string{"text", "json", "junit"}
}

// completeOutput completes --output: a format, and a file after an equals sign.
func completeOutput(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(typed, "=") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return formats(c), cobra.ShellCompDirectiveNoFileComp
}
