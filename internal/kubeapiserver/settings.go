package kubeapiserver

import (
	_ "embed" // the names of flags
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kubecascade/kubecascade"
)

// Settings are the values of the flags.
type Settings struct {
	// Options are for the server. Log and Release are not set.
	Options kubecascade.Options
	// CertDir has apiserver.crt and apiserver.key, if Options name no certificate.
	CertDir string
	// Verbosity and LogFormat are --v and --logging-format.
	Verbosity int
	LogFormat string
	// Ineffective are the names of given flags without effect, sorted.
	Ineffective []string
	// Fading are the given feature gates that are deprecated or GA, so that a future version will not know them.
	Fading []string

	// reading and mutating are the limits of requests.
	reading, mutating int
	// minWatch is the minimum duration of watches in seconds.
	minWatch  int
	anonymous bool
	version   string
	// gates are the pairs of --feature-gates, named the certificates for host names.
	gates []string
	named []cliflag.NamedCertKey
	flags *pflag.FlagSet
}

// ErrDone reports that only help or the version was requested, and was printed.
var ErrDone = errors.New("kubeapiserver: nothing to serve")

// ineffective has the flags of kube-apiserver that have no effect here, one in a line, with their kind: bool, or value
// for all others.
//
//go:embed ineffective.txt
var ineffective string

// Parse parses and validates the arguments. Help and the version are written to out, warnings to warn. An error that
// lists several problems has the form of kube-apiserver's.
func Parse(args []string, out, warn io.Writer) (*Settings, error) {
	s := &Settings{}
	f, groups := s.declare()
	f.SetOutput(warn)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if help, err := f.GetBool("help"); err != nil || help {
		return nil, errors.Join(err, ErrDone, printHelp(out, groups))
	}
	for _, arg := range f.Args() {
		if arg != "" {
			return nil, fmt.Errorf("%q does not take any arguments, got %q", "kube-apiserver", f.Args())
		}
	}
	switch on, err := strconv.ParseBool(s.version); {
	case err != nil && s.version != "raw" && !strings.HasPrefix(s.version, "v"):
		return nil, fmt.Errorf("invalid argument %q for \"--version\" flag: %w", s.version, err)
	case on || err != nil:
		_, err := fmt.Fprintf(out, "Kubernetes v%s\n", kubecascade.KubernetesVersion)
		return nil, errors.Join(ErrDone, err)
	}
	f.Visit(func(flag *pflag.Flag) {
		if flag.Usage == "" {
			s.Ineffective = append(s.Ineffective, flag.Name)
		}
	})
	if err := s.checkLogs(); err != nil {
		return nil, err
	}
	if err := s.setGates(); err != nil {
		return nil, err
	}
	return s, s.complete()
}

// declare declares all flags; groups are those with an effect. Only flags without one have no usage.
func (s *Settings) declare() (f *pflag.FlagSet, groups []*pflag.FlagSet) {
	f = pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	f.Usage = func() {}
	f.SetNormalizeFunc(hyphens)
	for _, sec := range sections {
		group := pflag.NewFlagSet(sec.title, pflag.ContinueOnError)
		sec.declare(s, group)
		f.AddFlagSet(group)
		groups = append(groups, group)
	}
	for line := range strings.Lines(ineffective) {
		if name, kind, _ := strings.Cut(strings.TrimSpace(line), "\t"); kind == "bool" {
			f.Bool(name, false, "")
		} else {
			f.String(name, "", "")
		}
	}
	s.flags = f
	return f, groups
}

// hyphens accepts underscores in names of flags (component-base cli/flag: WordSepNormalizeFunc).
func hyphens(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}

func printHelp(w io.Writer, groups []*pflag.FlagSet) error {
	var b strings.Builder
	b.WriteString("Serves the Kubernetes API from etcd as kube-apiserver does. Flags of kube-apiserver that have no effect here\n" +
		"are accepted, and named in the log; internal/kubeapiserver/ineffective.txt lists them.\n\n" +
		"Usage:\n  kube-apiserver [flags]\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "\n%s flags:\n\n%s", strings.ToUpper(g.Name()[:1])+g.Name()[1:], g.FlagUsagesWrapped(120))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// complete validates the flags, and sets what follows from several of them.
func (s *Settings) complete() error {
	o := &s.Options
	errs := s.check()
	var err error
	if o.Access.Modes, err = modes(o.Access.Modes); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return utilerrors.NewAggregate(errs)
	}
	for _, n := range s.named {
		o.Addresses.NamedCertificates = append(o.Addresses.NamedCertificates,
			kubecascade.NamedCertificate{CertFile: n.CertFile, KeyFile: n.KeyFile, Names: n.Names})
	}
	o.Access.Anonymous = &s.anonymous
	o.Limits.MaxInFlight = s.reading + s.mutating
	if o.Limits.MinRequestTimeout = time.Duration(min(s.minWatch, math.MaxInt32)) * time.Second; s.minWatch == 0 {
		o.Limits.MinRequestTimeout = -1 // at once
	}
	if o.Storage.CompactionInterval == 0 {
		o.Storage.CompactionInterval = -1 // none
	}
	o.Services.ClusterIPRange = ofIPv4(o.Services.ClusterIPRange)
	if !slices.Contains(o.Admission.Disable, accountPlugin) && !slices.Contains(o.Admission.Enable, accountPlugin) {
		o.Admission.Enable = append(o.Admission.Enable, accountPlugin) // on by default there
	}
	o.Controllers.Enabled = []string{}
	o.Controllers.LeaderElect = new(bool)
	if err := o.Check(); err != nil {
		return errors.Unwrap(err) // names flags
	}
	return nil
}
