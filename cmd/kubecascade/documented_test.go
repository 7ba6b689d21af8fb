package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// unsteady is what differs from run to run in transcripts, with what represents it there.
var unsteady = []struct {
	value *regexp.Regexp
	name  string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`web-[0-9a-z]{8,10}-[0-9a-z]{5}\b`), "web-HASH-N"},
	{regexp.MustCompile(`web-HASH-[12]\b`), "web-HASH-N"},
	{regexp.MustCompile(`web-[0-9a-z]{8,10}\b`), "web-HASH"},
	{regexp.MustCompile(`my-repset-[0-9a-z]{5}\b`), "my-repset-N"},
	{regexp.MustCompile(`(?m)( +)\d+s$`), "${1}AGE"},
	{regexp.MustCompile(`terminating for \S+`), "terminating for AGE"},
	{regexp.MustCompile(`revision \d+`), "revision N"},
	{regexp.MustCompile(`\w+ ago\b`), "AGE ago"},
	{regexp.MustCompile(`revision N, for \w+`), "revision N, for AGE"},
	{regexp.MustCompile(`user agent [^;]+;`), "user agent AGENT;"},
	// kubectl wait prints it unless the object was gone before.
	{regexp.MustCompile(`(?m)^\S+ condition met\n?`), ""},
}

// documented is "documented FILE": the commands of the file's transcripts are run in order, and must print the output
// in the file.
func documented(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: documented FILE")
	}
	if runtime.GOOS == "windows" {
		return // the commands are those of a Unix shell
	}
	data, err := os.ReadFile(filepath.Join("..", "..", args[0]))
	ts.Check(err)
	blocks := strings.Split(string(data), "```console\n")
	if len(blocks) == 1 {
		ts.Fatalf("%s has no transcripts", args[0])
	}
	for _, b := range blocks[1:] {
		transcript, _, _ := strings.Cut(b, "```")
		for _, step := range strings.Split("\n"+transcript, "\n$ ")[1:] {
			runStep(ts, step)
		}
	}
}

// runStep runs a command of a transcript, which must print what follows it; up to a line of three dots if there is one.
func runStep(ts *testscript.TestScript, step string) {
	command, want, _ := strings.Cut(step, "\n")
	if err := ts.Exec("sh", "-c", command); err != nil {
		ts.Fatalf("%s: %v", command, err)
	}
	got := steady(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	want, more := strings.CutSuffix(steady(want), "\n...")
	if more && strings.HasPrefix(got, want+"\n") || got == want {
		return
	}
	ts.Fatalf("%s prints\n%s\ninstead of\n%s", command, got, want)
}

// transcript is "transcript FILE COMMAND": the last exec printed the commands of the file's transcript that begins with
// COMMAND and what they print, in this order, perhaps with other commands between them.
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: transcript FILE COMMAND")
	}
	data, err := os.ReadFile(filepath.Join("..", "..", args[0]))
	ts.Check(err)
	_, rest, found := strings.Cut(string(data), "```console\n$ "+args[1]+"\n")
	if !found {
		ts.Fatalf("%s has no transcript of %s", args[0], args[1])
	}
	want, _, _ := strings.Cut(args[1]+"\n"+rest, "```")
	got := steady(ts.ReadFile("stdout")+ts.ReadFile("stderr")) + "\n"
	for step := range strings.SplitSeq(steady(want), "\n$ ") {
		if _, got, found = strings.Cut(got, "$ "+step+"\n"); !found {
			ts.Fatalf("it does not print, or not then\n%s", step)
		}
	}
}

func steady(text string) string {
	for _, u := range unsteady {
		text = u.value.ReplaceAllString(text, u.name)
	}
	return strings.TrimSpace(text)
}
