package kubeapiserver

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kubecascade/kubecascade"
)

// entry is a flag of kube-apiserver.
type entry struct {
	name string
	// kind is the type as --help prints it; def is the default as kube-apiserver's --help prints it.
	kind, def string
	// usage is what it means, in a line.
	usage string
	// act sets what the flag means here; nil for a flag without effect. Flags that are not given act with their defaults.
	act act
	// deprecated is printed when the flag is used; empty for none. hidden leaves the flag out of --help.
	deprecated string
	hidden     bool
}

// section is a group of flags in --help.
type section struct {
	title string
	flags []entry
}

// act sets a value.
type act func(s *Settings, v pflag.Value) error

func text(field func(*Settings) *string) act {
	return func(s *Settings, v pflag.Value) error { *field(s) = v.String(); return nil }
}

func list(field func(*Settings) *[]string) act {
	return func(s *Settings, v pflag.Value) error { *field(s) = v.(pflag.SliceValue).GetSlice(); return nil }
}

func parsed[T any](parse func(string) (T, error), field func(*Settings) *T) act {
	return func(s *Settings, v pflag.Value) (err error) { *field(s), err = parse(v.String()); return err }
}

func fraction(field func(*Settings) *float64) act {
	return parsed(func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, field)
}

func number(field func(*Settings) *int) act { return parsed(strconv.Atoi, field) }

func duration(field func(*Settings) *time.Duration) act { return parsed(time.ParseDuration, field) }

func yes(field func(*Settings) *bool) act { return parsed(strconv.ParseBool, field) }

func long(field func(*Settings) *int64) act {
	return parsed(func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }, field)
}

// value is a flag's value that is kept as it was given, after check has accepted it.
type value struct {
	kind, text string
	check      func(string) error
}

// String implements pflag.Value.
func (v *value) String() string { return v.text }

// Type implements pflag.Value.
func (v *value) Type() string { return v.kind }

// Set implements pflag.Value.
func (v *value) Set(s string) error {
	if err := v.check(s); err != nil {
		return err
	}
	v.text = s
	return nil
}

// pairs is a value that collects what is given several times, separated by commas.
type pairs struct {
	value
	all []string
}

// Set implements pflag.Value.
func (p *pairs) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if err := p.check(word); err != nil {
			return err
		}
		p.all = append(p.all, word)
	}
	p.text = strings.Join(p.all, ",")
	return nil
}

// Append implements pflag.SliceValue.
func (p *pairs) Append(s string) error { return p.Set(s) }

// Replace implements pflag.SliceValue.
func (p *pairs) Replace(all []string) error { p.all = nil; return p.Set(strings.Join(all, ",")) }

// GetSlice implements pflag.SliceValue.
func (p *pairs) GetSlice() []string { return p.all }

// certificates is a value that collects certificates for host names.
type certificates struct {
	pflag.Value
	all []cliflag.NamedCertKey
}

func newCertificates() *certificates {
	c := &certificates{}
	c.Value = cliflag.NewNamedCertKeyArray(&c.all)
	return c
}

// setNamed sets the certificates for host names.
func (s *Settings) setNamed(v pflag.Value) error {
	for _, n := range v.(*certificates).all {
		s.Options.Addresses.NamedCertificates = append(s.Options.Addresses.NamedCertificates,
			kubecascade.NamedCertificate{CertFile: n.CertFile, KeyFile: n.KeyFile, Names: n.Names})
	}
	return nil
}

// setCurves sets the accepted curves, whose numbers pflag has parsed.
func (s *Settings) setCurves(v pflag.Value) error {
	for _, text := range v.(pflag.SliceValue).GetSlice() {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return err
		}
		s.Options.Addresses.CurvePreferences = append(s.Options.Addresses.CurvePreferences, int32(n))
	}
	return nil
}

func anything(string) error { return nil }

// checks are the types of package pflag that it doesn't have, with what they accept.
var checks = map[string]func(string) error{
	"Level":                  func(s string) error { _, err := strconv.ParseInt(s, 10, 32); return err },
	"pattern=N,...":          anything,
	"portRange":              func(s string) error { _, err := utilnet.ParsePortRange(s); return err },
	"quantity":               func(s string) error { _, err := resource.ParseQuantity(s); return err },
	"version":                checkVersion,
	"ip":                     checkIP,
	"mapStringString":        anything,
	"mapStringStringNoSplit": checkPair,
	// K component-base: colonSeparatedMultimapStringString
	"colonSeparatedMultimapStringString": checkPair,
}

func checkIP(s string) error {
	if net.ParseIP(strings.TrimSpace(s)) == nil {
		return fmt.Errorf("failed to parse IP: %q", s)
	}
	return nil
}

func checkPair(s string) error {
	if !strings.Contains(s, "=") {
		return fmt.Errorf("malformed pair, expect string=string")
	}
	return nil
}

func checkVersion(s string) error {
	if s == "raw" || strings.HasPrefix(s, "v") {
		return nil
	}
	_, err := strconv.ParseBool(s)
	return err
}

// declare adds the flag to a set. It panics for a row that no set can have.
func (e *entry) declare(f *pflag.FlagSet) {
	switch e.kind {
	case "bool":
		f.Bool(e.name, e.def == "true", e.usage)
	case "string":
		f.String(e.name, e.def, e.usage)
	case "int":
		f.Int(e.name, must(strconv.Atoi(e.def)), e.usage)
	case "int64":
		f.Int64(e.name, must(strconv.ParseInt(e.def, 10, 64)), e.usage)
	case "uint":
		f.Uint(e.name, uint(must(strconv.ParseUint(e.def, 10, 32))), e.usage)
	case "float32", "float64":
		f.Float64(e.name, must(strconv.ParseFloat(e.def, 64)), e.usage)
	case "duration":
		f.Duration(e.name, must(time.ParseDuration(e.def)), e.usage)
	case "stringSlice":
		f.StringSlice(e.name, words(e.def), e.usage)
	case "stringArray":
		f.StringArray(e.name, words(e.def), e.usage)
	case "int32Slice":
		f.Int32Slice(e.name, nil, e.usage)
	case "stringToString":
		f.StringToString(e.name, nil, e.usage)
	default:
		e.declareOther(f)
	}
	if e.deprecated != "" {
		if err := f.MarkDeprecated(e.name, e.deprecated); err != nil {
			panic(err)
		}
		f.Lookup(e.name).Hidden = e.hidden
	}
}

// declareOther adds a flag of a type that package pflag doesn't have.
func (e *entry) declareOther(f *pflag.FlagSet) {
	check := checks[e.kind]
	if check == nil && e.kind != "namedCertKey" {
		panic("type " + e.kind + " of --" + e.name)
	}
	v := value{e.kind, e.def, check}
	switch e.kind {
	case "mapStringString", "colonSeparatedMultimapStringString":
		f.Var(&pairs{value: v}, e.name, e.usage)
	case "Level":
		f.VarP(&v, e.name, "v", e.usage)
	case "namedCertKey":
		f.Var(newCertificates(), e.name, e.usage)
	case "version":
		f.Var(&v, e.name, e.usage)
		f.Lookup(e.name).NoOptDefVal = "true"
	default:
		f.Var(&v, e.name, e.usage)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
