package featuregates

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// list has the feature gates, one a line. The file names its sources.
//
//go:embed gates.txt
var list string

// The gates that have an effect; all are beta, and on since v1.37. effects describes them.
const (
	AllowUnsafeMalformedObjectDeletion   = "AllowUnsafeMalformedObjectDeletion" // V-026
	ComponentFlagz                       = "ComponentFlagz"
	ComponentStatusz                     = "ComponentStatusz"
	HPAScaleToZero                       = "HPAScaleToZero"                       // V-029
	MaxUnavailableStatefulSet            = "MaxUnavailableStatefulSet"            // V-029
	PersistentVolumeClaimUnusedSinceTime = "PersistentVolumeClaimUnusedSinceTime" // V-029
	WatchListCompression                 = "WatchListCompression"                 // V-027
)

// ErrUnrecognized is wrapped by errors of names that are no gate.
var ErrUnrecognized = errors.New("unrecognized feature gate")

// Stage is the maturity of a feature.
type Stage string

// The stages of component-base featuregate/feature_gate.go, where GA is "", and Alpha and Beta are in capitals.
const (
	Alpha      Stage = "Alpha"
	Beta       Stage = "Beta"
	GA         Stage = "GA"
	Deprecated Stage = "Deprecated"
)

// Gate is a feature gate: its stage, its default, and whether it is locked to that.
type Gate struct {
	Stage  Stage
	On     bool
	Locked bool
}

// Known returns all gates by name. The map must not be changed.
var Known = sync.OnceValue(func() map[string]Gate {
	all := map[string]Gate{}
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		on, err := strconv.ParseBool(f[2])
		if err != nil {
			panic(fmt.Sprintf("gates.txt: %q: %v", line, err)) // it is a part of the program
		}
		all[f[0]] = Gate{Stage(f[1]), on, len(f) == 4}
	}
	return all
})

// effects has the gates that have an effect, with the effect.
var effects = map[string]string{
	AllowUnsafeMalformedObjectDeletion: "allows users with the verb unsafe-delete-ignore-read-errors to delete objects " +
		"whose stored data can't be decoded, with the delete option ignoreStoreReadErrorWithClusterBreakingPotential, " +
		"and makes lists with such an object fail and report its key instead of omitting it",
	ComponentFlagz:                       "serves the flags of the server at /flagz",
	ComponentStatusz:                     "serves the version and the uptime of the server at /statusz",
	HPAScaleToZero:                       "allows minReplicas of HorizontalPodAutoscalers to be 0",
	MaxUnavailableStatefulSet:            "keeps maxUnavailable of StatefulSets, and replaces that number of pods at once",
	PersistentVolumeClaimUnusedSinceTime: "maintains the condition Unused of bound PersistentVolumeClaims",
	WatchListCompression:                 "compresses watches that begin with a list, for clients that accept gzip",
}

// Effective returns the names of the gates that have an effect, sorted.
func Effective() []string { return slices.Sorted(maps.Keys(effects)) }

// Defaults returns the feature gates that have an effect, with their defaults.
func Defaults() map[string]bool {
	all := map[string]bool{}
	for name := range effects {
		all[name] = Known()[name].On
	}
	return all
}

// Ineffective returns the names of the gates that are set to another value than their default and have no effect,
// sorted.
func Ineffective(set map[string]bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		every := name == "AllAlpha" || name == "AllBeta" // may set a gate that has an effect
		if !every && set[name] != Known()[name].On && !slices.Contains(Effective(), name) {
			names = append(names, name)
		}
	}
	return names
}

// Usage describes the gates that have an effect, for the help of a flag.
func Usage() string {
	var all []string
	for _, name := range Effective() {
		gate := Known()[name]
		all = append(all, fmt.Sprintf("%s (%s, default %t) %s", name, strings.ToLower(string(gate.Stage)), gate.On,
			effects[name]))
	}
	return strings.Join(all, "; ")
}

// Check returns the errors of the gates that are set: that of the first unknown gate, or else those of all locked gates
// with another value (component-base featuregate/feature_gate.go: SetFromMap). It follows the order of names.
func Check(names []string, on map[string]bool) []error {
	var errs []error
	for _, name := range names {
		g, ok := Known()[name]
		if !ok {
			return []error{fmt.Errorf("%w: %s", ErrUnrecognized, name)}
		}
		if g.Locked && g.On != on[name] {
			errs = append(errs, fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, on[name], g.On))
		}
	}
	return errs
}

// Resolve returns whether each gate is enabled: as it is set, or by default.
func Resolve(set map[string]bool) (map[string]bool, error) {
	if err := errors.Join(Check(slices.Sorted(maps.Keys(set)), set)...); err != nil {
		return nil, err
	}
	all := make(map[string]bool, len(Known()))
	for name, g := range Known() {
		all[name] = g.On
		if every, ok := set[everyOf[g.Stage]]; ok && !g.Locked {
			all[name] = every
		}
		if on, ok := set[name]; ok {
			all[name] = on
		}
	}
	return all, nil
}

// everyOf has the gates that set all of a stage.
var everyOf = map[Stage]string{Alpha: "AllAlpha", Beta: "AllBeta"}

// Metric is a metric of kube-apiserver (component-base metrics/prometheus/feature): 1 for each gate that is enabled
// and 0 for the others. It has the gates that have an effect.
type Metric map[string]bool

var enabledGates = prometheus.NewDesc("kubernetes_feature_enabled",
	"Whether a feature gate is enabled, by its name and stage.", []string{"name", "stage"}, nil)

// Describe implements prometheus.Collector.
func (Metric) Describe(out chan<- *prometheus.Desc) { out <- enabledGates }

// Collect implements prometheus.Collector.
func (m Metric) Collect(out chan<- prometheus.Metric) {
	for _, name := range Effective() {
		stage := Known()[name].Stage
		label, value := strings.ToUpper(string(stage)), 0.
		if stage == GA {
			label = ""
		}
		if m[name] {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(enabledGates, prometheus.GaugeValue, value, name, label)
	}
}
