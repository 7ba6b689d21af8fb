package perturb

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/faults"
)

// Outcome is the result of a run.
type Outcome struct {
	// Exit describes how the command has ended. It is empty for success.
	Exit string
	// Objects has the owners of the objects at the end, by resource and name. Unknown has patterns of resources whose
	// objects are not known, with the reasons (cluster.Owners).
	Objects map[[2]string]string
	Unknown map[string]string
	// Fired are the requests that met a rule of the plan.
	Fired []faults.Fired
}

// Run runs the command on a new server with a plan.
type Run func(faults.Plan) (Outcome, error)

// Search runs the command with one fault at a time until over returns true, and writes those that change the result to
// w. It learns the requests from two undisturbed runs. What differs between these is not compared, and is no point for
// a fault. The seed determines the order. The fault of only, if it has rules, is tried instead of those that are found.
func Search(w io.Writer, seed uint64, only faults.Plan, run Run, over func() bool) (found int, err error) {
	learn := faults.Plan{Rules: []faults.Rule{{Effect: faults.Effect{Delay: 1}}}} // lists all requests
	a, err := run(learn)
	if err != nil {
		return 0, err
	}
	b, err := run(learn)
	if err != nil {
		return 0, err
	}
	if a.Exit != "" || b.Exit != "" {
		return 0, fmt.Errorf("the command fails without a fault: %s", cmp.Or(a.Exit, b.Exit))
	}
	all := points(a.Fired, b.Fired)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if len(only.Rules) > 0 {
		all = []point{{plan: only}}
	}
	tried, unknown := 0, map[string]string{}
	maps.Copy(unknown, a.Unknown)
	maps.Copy(unknown, b.Unknown)
	for ; tried < len(all) && !over(); tried++ {
		plan := all[tried].plan
		if len(only.Rules) == 0 {
			plan.Rules[0].Skip = matched(plan, a.Fired[:all[tried].at])
		}
		got, err := run(plan)
		if err != nil {
			return found, err
		}
		maps.Copy(unknown, got.Unknown)
		if d := differences(a, b, got); len(d) > 0 && len(got.Fired) > 0 {
			found++
			text, _ := yaml.Marshal(plan) // it has only strings and numbers
			fmt.Fprintf(w, "kubecascade: %s, with this plan:\n%s", strings.Join(d, ", "), text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		fmt.Fprintf(w, "kubecascade: the objects of %s were not always compared: %s\n", name, unknown[name])
	}
	fmt.Fprintf(w, "kubecascade: %d of %d perturbations change the result; %d were not tried\n",
		found, tried, len(all)-tried)
	return found, nil
}

// differences returns how an outcome differs from two undisturbed ones, sorted.
func differences(a, b, o Outcome) (all []string) {
	if o.Exit != "" {
		return []string{o.Exit}
	}
	unknown := slices.Concat(slices.Collect(maps.Keys(a.Unknown)), slices.Collect(maps.Keys(o.Unknown)))
	wanted, other, got := named(a.Objects, unknown), named(b.Objects, unknown), named(o.Objects, unknown)
	for name := range maps.Keys(got) {
		if _, ok := other[name]; !ok && wanted[name] == nil {
			all = append(all, fmt.Sprintf("left: %s (%d)", name, len(got[name])))
		}
	}
	for name, want := range wanted {
		switch owners := got[name]; {
		case !slices.Equal(want, other[name]): // random
		case len(owners) > len(want):
			all = append(all, fmt.Sprintf("left: %s (%d instead of %d)", name, len(owners), len(want)))
		case len(owners) < len(want):
			all = append(all, fmt.Sprintf("missing: %s (%d instead of %d)", name, len(owners), len(want)))
		case !slices.Equal(owners, want):
			what := map[bool]string{true: "orphaned", false: "other owners"}[owners[0] == ""]
			all = append(all, fmt.Sprintf("%s: %s (owners %q instead of %q)", what, name, owners, want))
		}
	}
	slices.Sort(all)
	return all
}

// random matches the end of a name that the server has generated (k8s.io/apimachinery pkg/util/rand: SafeEncodeString),
// or that is a hash.
var random = regexp.MustCompile(`([bcdfghjklmnpqrstvwxz2456789]{5}|[0-9a-f]{16,})($|[/,])`)

// fixed replaces the random parts of names by *.
func fixed(names string) string { return random.ReplaceAllString(names, "*$2") }

// named returns the owners of the objects with the same name, apart from random parts, but not those of the unknown
// resources.
func named(objects map[[2]string]string, unknown []string) map[string][]string {
	all := map[string][]string{}
	for o, owners := range objects {
		if slices.ContainsFunc(unknown, func(p string) bool { ok, _ := path.Match(p, o[0]); return ok }) {
			continue
		}
		key := o[0] + " " + fixed(o[1])
		all[key] = append(all[key], fixed(owners))
	}
	for _, owners := range all {
		slices.Sort(owners)
	}
	return all
}

// most is the number of requests with the same attributes that get a fault.
const most = 3

// effects returns the faults to try for a verb.
func effects(verb string) []faults.Effect {
	lost, fails := faults.Effect{LoseAnswer: true}, faults.Effect{Error: "InternalError"}
	conflict, gone := faults.Effect{Error: "Conflict"}, faults.Effect{Error: "NotFound"}
	held := faults.Duration(time.Second)
	stale := func(revisions int) faults.Effect { return faults.Effect{StaleReads: true, Revisions: revisions} }
	return map[string][]faults.Effect{
		"create": {lost, fails}, "update": {lost, fails, conflict}, "patch": {lost, fails, conflict},
		"delete": {lost, fails, gone}, "deletecollection": {lost, fails}, "get": {fails, gone},
		"list": {fails, stale(1), stale(4), stale(16)},
		"watch": {{HoldEvents: true, Duration: held}, {SkipEvents: true, Duration: held}, {EndWatch: true, Events: 1},
			{ExpireWatch: true, Events: 1}},
	}[verb]
}

// point is a request of the first undisturbed run, by its index, and the plan of an effect on it, without Skip.
type point struct {
	plan faults.Plan
	at   int
}

// points returns a point for each effect at each request that both runs had. If only one run had the name of a request,
// its plan has no name.
func points(a, b []faults.Fired) (all []point) {
	inB := map[string]int{}
	for _, f := range b {
		named, unnamed := matches(f.Request)
		inB[fmt.Sprint(named)]++
		inB[fmt.Sprint(unnamed)]++
	}
	seen := map[string]int{}
	for i, f := range a {
		at, unnamed := matches(f.Request)
		if inB[fmt.Sprint(at)] == 0 {
			at = unnamed
		}
		key := fmt.Sprint(at)
		if seen[key]++; seen[key] > min(inB[key], most) {
			continue
		}
		for _, e := range effects(f.Request.Verb) {
			if !e.StaleReads || f.Request.Stale {
				all = append(all, point{faults.Plan{Rules: []faults.Rule{{Match: at, Times: 1, Effect: e}}}, i})
			}
		}
	}
	return all
}

// matched returns the number of requests that the rule of a plan matches, as the server counts them.
func matched(plan faults.Plan, requests []faults.Fired) int {
	set := faults.New()
	_, _, _ = set.Add(plan) // it is valid
	for _, f := range requests {
		set.Decide(&f.Request, f.Time)
	}
	return set.Report().Rules[0].Matched
}

// matches returns the match of a request, with and without the name. The agent is that of any version.
func matches(q faults.Request) (named, unnamed faults.Match) {
	agent := strings.SplitAfterN(q.UserAgent, "/", 2)[0] + "*"
	unnamed = faults.Match{
		Verbs: []string{q.Verb}, Group: cmp.Or(q.Group, "core"), Resource: q.Resource, Subresource: q.Subresource,
		Namespace: fixed(q.Namespace), UserAgent: agent,
	}
	named = unnamed
	named.Name = q.Name
	return named, unnamed
}
