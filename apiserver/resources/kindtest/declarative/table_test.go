package declarative

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/rules.txt")

// byHand has the functions that return the errors of rules of the level alpha, with their files below resources or in a
// module. The keys are fields, or types for all rules of a type.
var byHand = map[string]string{
	"admissionregistration/v1.ValidatingAdmissionPolicyStatus.Conditions": "admissionregistration/" +
		"validatingadmissionpolicy.go validateValidatingPolicyStatus",
	"apps/v1.StatefulSetSpec":                      "apps/statefulset.go validateStatefulSetUpdate",
	"apps/v1.StatefulSetSpec.Selector":             "apps/replicas.go podSelector",
	"authorization/v1.SelfSubjectAccessReviewSpec": "authorization/selfsubjectaccessreview.go validateSelf",
	"authorization/v1.SubjectAccessReviewSpec":     "authorization/access.go check",
	"autoscaling/v1.CrossVersionObjectReference":   "autoscaling/validation.go scaleTarget",
	"autoscaling/v2.CrossVersionObjectReference":   "autoscaling/validation.go scaleTarget",
	"batch/v1.JobSpec.MaxFailedIndexes":            "batch/job_validation.go jobSpec",
	"certificates/v1.ClusterTrustBundleSpec":       "certificates/clustertrustbundle.go validateTrustBundle",
	"certificates/v1.PodCertificateRequestStatus": "certificates/podcertificaterequest_validation.go " +
		"outcomeConditions",
	"core/v1.NodeSpec.ProviderID":                       "core/node.go validateNodeUpdate",
	"core/v1.Secret.Type":                               "core/secret.go validateSecret",
	"core/v1.Toleration.Key":                            "internal/podspec/affinity.go ValidateTolerations",
	"policy/v1.PodDisruptionBudgetStatus":               "poddisruptionbudget.go validateDisruptionBudgetStatus",
	"rbac/v1.ClusterRoleBinding.RoleRef":                "rbac/binding.go binding",
	"rbac/v1.RoleBinding.RoleRef":                       "rbac/binding.go binding",
	"resource/v1.AllocatedDeviceStatus.Conditions":      "dra/resourceclaim.go deviceStatus",
	"resource/v1.DeviceTaintRuleStatus":                 "dra/devicetaintrule.go validateDeviceTaintRuleStatus",
	"storage/v1.CSIDriverSpec.VolumeLifecycleModes":     "storage/csidriver.go validateCSIDriverUpdate",
	"storagemigration/v1.StorageVersionMigrationStatus": "storageversionmigration.go validateMigrationStatus",

	meta + "Condition":                  metaValidation + "ValidateCondition",
	meta + "ConditionStatus":            metaValidation + "ValidateCondition",
	meta + "ManagedFieldsEntry":         metaValidation + "ValidateManagedFields",
	meta + "ManagedFieldsOperationType": metaValidation + "ValidateManagedFields",
	meta + "ObjectMeta":                 objectMeta + "ValidateObjectMetaAccessorUpdate",
	meta + "ObjectMeta.Generation":      objectMeta + "validateObjectMetaAccessorWithOptsCommon",
	meta + "OwnerReference":             objectMeta + "validateOwnerReference",
}

const (
	meta           = "k8s.io/apimachinery/pkg/apis/meta/v1."
	metaValidation = "k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go "
	objectMeta     = "k8s.io/apimachinery/pkg/api/validation/objectmeta.go "
)

// TestEachRuleIsListedWithItsState: testdata/rules.txt first has each built-in kind, with the number of its rules and
// the types that have them, besides the rules of metadata. Then it has each rule. A rule is generated, written by hand,
// or not enforced because the gate of its field is off. There are no other rules.
func TestEachRuleIsListedWithItsState(t *testing.T) {
	from, inputs := newSources(t), inputs(t)
	kinds, rules, used := map[string]string{}, map[string]string{}, map[string]bool{}
	byDefault := map[string]string{}
	for _, r := range resources.Builtin() {
		byDefault[r.GroupVersionKind().GroupKind().String()] = r.GroupVersion().String()
	}
	for _, r := range resources.Every(nil) {
		name, counts, in := r.GroupVersion().String()+" "+r.Kind, map[string]int{}, map[string]bool{}
		if as := byDefault[r.GroupVersionKind().GroupKind().String()]; r.Off && as != "" {
			kinds[name] = "validated as " + as
			continue
		}
		typ := reflect.TypeOf(r.New()).Elem()
		for _, rule := range from.within(t, typ) {
			state, of := mark(rule, inputs[typ.PkgPath()])
			if state == "" {
				t.Errorf("%s of %s is neither generated nor in byHand", rule, name)
			}
			rules[rule.String()] = state
			used[of] = true
			kind, _, _ := strings.Cut(state, ":")
			counts[kind]++
			in[strings.TrimPrefix(rule.pkg, "k8s.io/api/")+"."+rule.typ] = true
		}
		kinds[name] = summary(counts, in)
	}
	for of, function := range byHand {
		if !used[of] || !from.declares(t, function) {
			t.Errorf("%s: %s: no rule of the level alpha, or no function", of, function)
		}
	}
	compare(t, kinds, rules)
}

// mark returns the state of a rule, and its entry in byHand. generated reports whether the kind has generated
// validation.
func mark(r rule, generated bool) (state, of string) {
	off := ""
	if r.gate != "" {
		off = "gate " + r.gate + " is off"
	}
	for _, of := range []string{r.place(), strings.TrimSuffix(r.place(), "."+r.field)} {
		if byHand[of] != "" && r.alpha != "" {
			return "by hand (alpha since " + r.alpha + "): " + byHand[of], of
		}
	}
	switch {
	case r.alpha == "" && generated && off != "":
		return "generated: " + off, ""
	case r.alpha == "" && generated:
		return "generated", ""
	case off != "":
		return "not enforced: " + off, ""
	}
	return "", ""
}

// summary returns the line of a kind: the number of rules in each state, and the types that have them.
func summary(counts map[string]int, in map[string]bool) string {
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	types := slices.DeleteFunc(slices.Sorted(maps.Keys(in)), func(s string) bool { return strings.HasPrefix(s, meta) })
	if len(types) == 0 {
		return cmp.Or(strings.Join(parts, ", "), "no rule")
	}
	return strings.Join(parts, ", ") + ", in " + strings.Join(types, " ")
}

// inputs returns the packages for whose types validation is generated.
func inputs(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	input := regexp.MustCompile(`(?m)^// \+k8s:validation-gen-input=(\S+)$`)
	for _, docs := range []string{"../../*/doc.go", "../../internal/declared/*/doc.go"} {
		files, err := filepath.Glob(docs)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range input.FindAllSubmatch(text, -1) {
				all[string(m[1])] = true
			}
		}
	}
	return all
}

// declares reports whether a function is in its file.
func (s *sources) declares(t *testing.T, function string) bool {
	t.Helper()
	file, name, _ := strings.Cut(function, " ")
	path := filepath.Join("../..", file)
	for module, dir := range s.modules {
		if within, ok := strings.CutPrefix(file, module+"/"); ok {
			path = filepath.Join(dir, within)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^func (\(.*?\) )?` + name + `\(`).Match(text)
}

const legend = "" +
	`# The rules that upstream declares by +k8s: tags, for each kind. Rules of the level alpha are written by hand:
# kube-apiserver does not enforce the code that is generated from them, so a handwritten function returns their errors.
# Handwritten rules without a tag are not listed. A gate that is off removes its fields, so their rules have no errors.

`

// compare compares the table with its file, or writes it.
func compare(t *testing.T, sections ...map[string]string) {
	t.Helper()
	var table strings.Builder
	table.WriteString(legend)
	for _, lines := range sections {
		for _, name := range slices.Sorted(maps.Keys(lines)) {
			fmt.Fprintf(&table, "%s: %s\n", name, lines[name])
		}
		table.WriteString("\n")
	}
	const file = "testdata/rules.txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if d := diff.Diff(string(want), table.String()); err != nil || d != "" {
		t.Errorf("%v (-want +got; -rewrite writes the file):\n%s", err, d)
	}
}
