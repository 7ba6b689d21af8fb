package main

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/admission/dynamic"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/controllers"
)

// tagged returns the flags that the tags of a struct's fields name.
func tagged(t reflect.Type) map[string]bool {
	all := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		for flag := range strings.SplitSeq(f.Tag.Get("flag"), ",") {
			all[flag] = true
		}
		if f.Type.Kind() == reflect.Struct {
			for flag := range tagged(f.Type) {
				all[flag] = true
			}
		}
	}
	return all
}

// TestFlagsHaveFieldsOfOptions: each flag of serve has a field of kubecascade.Options, unless it is the process' and
// not the server's, and each tag names a flag.
func TestFlagsHaveFieldsOfOptions(t *testing.T) {
	fields := tagged(reflect.TypeFor[kubecascade.Options]())
	delete(fields, "")
	for _, c := range controllers.All() {
		if c.Flag != "" {
			fields[c.Flag] = true // in Controllers.Workers
		}
	}
	serveCommand().Flags().VisitAll(func(f *pflag.Flag) {
		// The types of these fields belong to libraries, which have no tags.
		foreign := strings.HasPrefix(f.Name, "audit-log-batch-") || strings.HasPrefix(f.Name, "audit-log-truncate-max-")
		if !fields[f.Name] && !foreign && f.Name != "ready-file" {
			t.Errorf("--%s has no field", f.Name)
		}
		delete(fields, f.Name)
	})
	for name := range fields {
		t.Errorf("a field names --%s, which serve doesn't have", name)
	}
}

// anyLookup is an admission.Lookup for plugins that are not called.
type anyLookup struct{ admission.Lookup }

// TestDefaultPlugins: the help of --disable-admission-plugins lists the plugins that are on by default, in their order.
func TestDefaultPlugins(t *testing.T) {
	var names []string
	for _, c := range admission.All(anyLookup{}, (&dynamic.Admission{}).Plugins()...) {
		if c.Default {
			names = append(names, c.Name)
		}
	}
	usage := serveCommand().Flag("disable-admission-plugins").Usage
	if _, list, _ := strings.Cut(usage, "on by default are "); list != strings.Join(names, ", ") {
		t.Errorf("the help lists %s, on by default are %s", list, strings.Join(names, ", "))
	}
}

// TestUnsetFieldsHaveDefaultsOfFlags: a field that is not set has the default of its flag: the options of serve without
// flags differ from the zero Options only where that is documented.
func TestUnsetFieldsHaveDefaultsOfFlags(t *testing.T) {
	o := &options{}
	o.groups()
	if err := o.complete(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	for _, same := range []struct {
		what string
		ok   bool
	}{
		{"ports", o.Addresses.SecurePort == 6443 && o.Addresses.InsecurePort == 8080},
		{"directory", o.Storage.Dir == "./kubecascade-data"},
		{"audit", reflect.DeepEqual(o.Audit, audit.Defaults())},
		{"quota", o.Storage.QuotaBytes == 0},
		{"election", o.Controllers.LeaderElect == nil},
	} {
		if !same.ok {
			t.Errorf("%s: %+v", same.what, o.Options)
		}
	}
}

// TestErrorsNameFlags: serve's errors name flags, not fields.
func TestErrorsNameFlags(t *testing.T) {
	o := &options{}
	o.groups()
	o.Addresses.BindAddress = "here"
	err := o.complete(func(string) bool { return false })
	if err == nil || err.Error() != `--bind-address "here" is not an IP address` || errors.Unwrap(err) != nil {
		t.Errorf("%v", err)
	}
}

// TestSystemdUnitMatchesServe: systemd's unit in docs/ calls serve with flags that it has, and waits for its
// notification.
func TestSystemdUnitMatchesServe(t *testing.T) {
	unit, err := os.ReadFile("../../docs/kubecascade.service")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(unit), "\nType=notify\n") {
		t.Error("the unit is not of the type notify")
	}
	_, call, _ := strings.Cut(string(unit), "\nExecStart=")
	words := strings.Fields(call[:strings.IndexByte(call, '\n')])
	if len(words) < 3 || words[1] != "serve" {
		t.Fatalf("the unit runs %q", words)
	}
	if err := serveCommand().Flags().Parse(words[2:]); err != nil {
		t.Error(err)
	}
}
