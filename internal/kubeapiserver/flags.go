package kubeapiserver

import (
	"cmp"
	_ "embed" // the flags
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	cliflag "k8s.io/component-base/cli/flag"
)

// table has the flags of kube-apiserver, one in a line: name and kind; those that have an effect also have their
// section and default.
//
//go:embed flags.txt
var table string

// Flags are the flags of kube-apiserver.
type Flags struct {
	*pflag.FlagSet
	// Fading has the given feature gates that are deprecated or GA, which a future version will remove.
	Fading []string

	serve *pflag.FlagSet
	// groups has the flags that have an effect, by section.
	groups []*pflag.FlagSet
	// The following flags don't exist in serve, or have another form there.
	certDir, version string
	mutating         int
	gates            []string
}

// ErrDone reports that only help or the version was requested, and was printed.
var ErrDone = errors.New("kubeapiserver: nothing to serve")

// New declares the flags over those of serve, which get kube-apiserver's defaults.
func New(serve *pflag.FlagSet) (*Flags, error) {
	f := &Flags{FlagSet: pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError), serve: serve}
	f.Usage = func() {}
	f.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	own := f.own()
	var group *pflag.FlagSet
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		name, kind := cells[0], cells[1]
		switch flag := cmp.Or(own.Lookup(name), serve.Lookup(name)); {
		case flag == nil && kind == "bool":
			f.Bool(name, false, "")
		case flag == nil:
			f.String(name, "", "")
		case len(cells) < 4:
			return nil, fmt.Errorf("--%s has an effect, so flags.txt needs its section and default", name)
		default:
			section, def := cells[2], cells[3]
			if group == nil || group.Name() != section {
				group = pflag.NewFlagSet(section, pflag.ContinueOnError)
				f.groups = append(f.groups, group)
			}
			if err := adapt(flag, kind, def); err != nil {
				return nil, fmt.Errorf("--%s: default of kube-apiserver: %w", name, err)
			}
			group.AddFlag(flag)
		}
	}
	for _, g := range f.groups {
		f.AddFlagSet(g)
	}
	return f, nil
}

// own declares the flags that don't exist in serve, or have another form there.
func (f *Flags) own() *pflag.FlagSet {
	own := pflag.NewFlagSet("own", pflag.ContinueOnError)
	own.StringSliceVar(&f.gates, "feature-gates", nil, "feature gates as `name=true` or name=false")
	own.IntVar(&f.mutating, "max-mutating-requests-inflight", 200,
		"with --max-requests-inflight, the sum is the maximum number of concurrent requests")
	own.StringVar(&f.certDir, "cert-dir", "/var/run/kubernetes",
		"directory of apiserver.crt and apiserver.key, which are generated if they are missing; unused with "+
			"--tls-cert-file")
	const issuers = "service-account-issuer" // serve splits its values at commas
	own.StringArray(issuers, nil, f.serve.Lookup(issuers).Usage)
	own.StringVar(&f.version, "version", "false", "print the version and quit")
	own.Lookup("version").NoOptDefVal = "true"
	own.BoolP("help", "h", false, "help for kube-apiserver")
	return own
}

// adapt gives a flag of serve the type and the default of kube-apiserver's.
func adapt(flag *pflag.Flag, kind, def string) error {
	switch kind {
	case "ip":
		flag.Value = checked{flag.Value, kind, checkIP}
	case "portRange":
		flag.Value = checked{flag.Value, kind, func(text string) error { _, err := utilnet.ParsePortRange(text); return err }}
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok && def == "[]" {
		flag.DefValue = "[]"
		return list.Replace(nil)
	}
	if flag.DefValue == def {
		return nil
	}
	flag.DefValue = def
	return flag.Value.Set(def)
}

// checked is a flag of serve that accepts fewer values.
type checked struct {
	pflag.Value
	kind  string
	check func(text string) error
}

// Set implements pflag.Value.
func (v checked) Set(text string) error {
	if err := v.check(strings.TrimSpace(text)); err != nil {
		return err
	}
	return v.Value.Set(strings.TrimSpace(text))
}

// Type implements pflag.Value.
func (v checked) Type() string { return v.kind }

func checkIP(text string) error {
	if net.ParseIP(text) == nil {
		return fmt.Errorf("failed to parse IP: %q", text)
	}
	return nil
}

// Parse parses and validates the arguments, and sets the flags of serve that follow from several of them. Help and the
// version of Kubernetes are written to out. An error that lists several problems has the form of kube-apiserver's.
func (f *Flags) Parse(args []string, version string, out io.Writer) error {
	if err := f.FlagSet.Parse(args); err != nil {
		return err
	}
	if help, err := f.GetBool("help"); err != nil || help {
		return errors.Join(err, ErrDone, f.printHelp(out))
	}
	if slices.ContainsFunc(f.Args(), func(arg string) bool { return arg != "" }) {
		return fmt.Errorf("%q does not take any arguments, got %q", "kube-apiserver", f.Args())
	}
	switch on, err := strconv.ParseBool(f.version); {
	case err != nil && f.version != "raw" && !strings.HasPrefix(f.version, "v"):
		return fmt.Errorf("invalid argument %q for \"--version\" flag: %w", f.version, err)
	case on || err != nil:
		_, err := fmt.Fprintf(out, "Kubernetes v%s\n", version)
		return errors.Join(ErrDone, err)
	}
	if err := cmp.Or(f.checkLogs(), f.setGates()); err != nil {
		return err
	}
	modes, err := modes(f.list("authorization-mode"))
	errs := f.check()
	if err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return utilerrors.NewAggregate(errs)
	}
	return f.translate(modes)
}

// translate sets the flags of serve whose values follow from several flags, or have another form.
func (f *Flags) translate(modes []string) error {
	const plugin = "ServiceAccount" // on by default in kube-apiserver, but not in serve
	if !slices.Contains(slices.Concat(f.list("disable-admission-plugins"), f.list("enable-admission-plugins")), plugin) {
		if err := f.set("enable-admission-plugins", plugin); err != nil {
			return err
		}
	}
	inFlight := cmp.Or(f.number("max-requests-inflight")+f.mutating, 400)
	replace := func(name string, values []string) error {
		return f.serve.Lookup(name).Value.(pflag.SliceValue).Replace(values)
	}
	words := slices.DeleteFunc(f.list("runtime-config"), func(word string) bool { return strings.TrimSpace(word) == "" })
	return errors.Join(
		replace("authorization-mode", modes),
		replace("runtime-config", words),
		replace("service-account-issuer", f.list("service-account-issuer")),
		f.set("v", strconv.Itoa(max(f.number("v"), 0))),
		f.set("max-requests-inflight", strconv.Itoa(inFlight)),
		f.set("service-cluster-ip-range", ofIPv4(f.text("service-cluster-ip-range"))),
	)
}

// set sets a flag of serve, or adds to a list.
func (f *Flags) set(name, value string) error { return f.serve.Lookup(name).Value.Set(value) }

// text, list, number and duration return the values of flags.
func (f *Flags) text(name string) string { return f.Lookup(name).Value.String() }

func (f *Flags) list(name string) []string {
	return f.Lookup(name).Value.(pflag.SliceValue).GetSlice()
}

func (f *Flags) number(name string) int {
	n, _ := f.GetInt(name) // the flag is an int
	return n
}

func (f *Flags) duration(name string) time.Duration {
	d, _ := f.GetDuration(name) // the flag is a duration
	return d
}

// Ineffective returns the names of given flags without effect, sorted. Only such flags have no usage.
func (f *Flags) Ineffective() (names []string) {
	f.Visit(func(flag *pflag.Flag) {
		if flag.Usage == "" {
			names = append(names, flag.Name)
		}
	})
	return names
}

func (f *Flags) printHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Serves the Kubernetes API from etcd as kube-apiserver does. Flags of kube-apiserver that have no effect here\n" +
		"are accepted, and named in the log; internal/kubeapiserver/flags.txt lists all.\n\n" +
		"Usage:\n  kube-apiserver [flags]\n")
	for _, g := range f.groups {
		fmt.Fprintf(&b, "\n%s flags:\n\n%s", strings.ToUpper(g.Name()[:1])+g.Name()[1:], g.FlagUsagesWrapped(120))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
