package resources

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	certificatesv1alpha1 "k8s.io/api/certificates/v1alpha1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	eventsv1beta1 "k8s.io/api/events/v1beta1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	flowcontrolv1beta1 "k8s.io/api/flowcontrol/v1beta1"
	flowcontrolv1beta2 "k8s.io/api/flowcontrol/v1beta2"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	nodev1beta1 "k8s.io/api/node/v1beta1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	rbacv1alpha1 "k8s.io/api/rbac/v1alpha1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1alpha1 "k8s.io/api/storage/v1alpha1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
)

// older is a scheme with upstream's types of the versions in sameMessages.
func older(t *testing.T) *runtime.Scheme {
	s := runtime.NewScheme()
	b := runtime.NewSchemeBuilder(admissionv1alpha1.AddToScheme, admissionv1beta1.AddToScheme, appsv1beta1.AddToScheme,
		appsv1beta2.AddToScheme, batchv1beta1.AddToScheme, coordinationv1beta1.AddToScheme, eventsv1beta1.AddToScheme,
		flowcontrolv1beta1.AddToScheme, flowcontrolv1beta2.AddToScheme, flowcontrolv1beta3.AddToScheme,
		networkingv1beta1.AddToScheme, nodev1beta1.AddToScheme, policyv1beta1.AddToScheme, rbacv1beta1.AddToScheme,
		rbacv1alpha1.AddToScheme,
		certificatesv1alpha1.AddToScheme, resourcev1alpha3.AddToScheme,
		certificatesv1beta1.AddToScheme, extensionsv1beta1.AddToScheme, apiregistrationv1beta1.AddToScheme,
		schedulingv1beta1.AddToScheme, storagev1alpha1.AddToScheme, storagev1beta1.AddToScheme)
	if err := b.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// removed are kinds of sameMessages that k8s.io/api no longer has. Values of the releases that had them are in its
// testdata, and tests/backups reads those.
var removed = []string{"autoscaling/v2beta2 HorizontalPodAutoscaler", "batch/v2alpha1 CronJob",
	"certificates.k8s.io/v1alpha1 PodCertificateRequest", "networking.k8s.io/v1alpha1 IPAddress",
	"networking.k8s.io/v1alpha1 ServiceCIDR", "scheduling.k8s.io/v1alpha1 PriorityClass"}

// differences are known: fields that commands of kubectl before 1.16 have set and that no controller has read since,
// and what Upgrade renames, renumber moves and amend sets.
var differences = []string{
	"apps/v1beta1 Deployment.Spec.RollbackTo: no field", "extensions/v1beta1 Deployment.Spec.RollbackTo: no field",
	"extensions/v1beta1 DaemonSet.Spec.TemplateGeneration: no field",
	"rbac.authorization.k8s.io/v1alpha1 ClusterRole.Rules.", "rbac.authorization.k8s.io/v1alpha1 Role.Rules.",
	"rbac.authorization.k8s.io/v1alpha1 ClusterRoleBinding.Subjects.APIVersion: apiVersion in JSON, apiGroup in ",
	"rbac.authorization.k8s.io/v1alpha1 RoleBinding.Subjects.APIVersion: apiVersion in JSON, apiGroup in ",
	"flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration.Spec.Limited.AssuredConcurrencyShares: assured",
	"flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration.Spec.Limited.AssuredConcurrencyShares: assured",
}

// TestSameMessages: each message of sameMessages has its fields under the numbers and with the wire types of the
// version that reads it.
func TestSameMessages(t *testing.T) {
	from, seen := older(t), 0
	for gv, same := range sameMessages {
		parsed, err := schema.ParseGroupVersion(gv)
		if err != nil {
			t.Fatal(err)
		}
		for kind := range strings.FieldsSeq(same.kinds) {
			seen++
			old, err := from.New(parsed.WithKind(kind))
			if gone := slices.Contains(removed, gv+" "+kind); gone && err != nil {
				continue
			}
			if err != nil {
				t.Error(err)
				continue
			}
			as, ok := sameMessage(parsed.WithKind(kind))
			is, err := Scheme().New(as)
			if err != nil || !ok {
				t.Errorf("%s %s: %v", gv, kind, err)
				continue
			}
			c := comparison{seen: map[[2]reflect.Type]bool{}}
			c.compare(gv+" "+kind, reflect.TypeOf(old).Elem(), reflect.TypeOf(is).Elem())
			for _, d := range c.differences {
				if !slices.ContainsFunc(differences, func(known string) bool { return strings.HasPrefix(d, known) }) {
					t.Error(d)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d kinds were compared", seen)
	}
}

// comparison compares protobuf messages by the tags of Go types.
type comparison struct {
	seen        map[[2]reflect.Type]bool
	differences []string
}

func (c *comparison) compare(path string, old, is reflect.Type) {
	for old.Kind() == reflect.Pointer || old.Kind() == reflect.Slice || old.Kind() == reflect.Map {
		if old.Kind() == reflect.Map && is.Kind() == reflect.Map {
			c.compare(path+" key", old.Key(), is.Key())
		}
		old = old.Elem()
		if is.Kind() != reflect.Pointer && is.Kind() != reflect.Slice && is.Kind() != reflect.Map {
			if old.Kind() == reflect.Struct || is.Kind() == reflect.Struct {
				c.differences = append(c.differences, path+": "+old.String()+", "+is.String())
			}
			continue // an optional scalar and one that is not
		}
		is = is.Elem()
	}
	if is.Kind() == reflect.Pointer {
		is = is.Elem()
	}
	if (old.Kind() == reflect.Struct) != (is.Kind() == reflect.Struct) {
		c.differences = append(c.differences, path+": "+old.String()+", "+is.String())
		return
	}
	if old.Kind() != reflect.Struct || old == is || c.seen[[2]reflect.Type{old, is}] {
		return
	}
	c.seen[[2]reflect.Type{old, is}] = true
	fields := map[string]reflect.StructField{}
	for i := range is.NumField() {
		fields[fieldNumber(is.Field(i))] = is.Field(i)
	}
	for i := range old.NumField() {
		f := old.Field(i)
		n := fieldNumber(f)
		if n == "" {
			continue
		}
		there, ok := fields[n]
		if !ok {
			c.differences = append(c.differences, fmt.Sprintf("%s.%s: no field %s in %s", path, f.Name, n, is))
			continue
		}
		if a, b := jsonName(f), jsonName(there); a != b {
			c.differences = append(c.differences, fmt.Sprintf("%s.%s: %s in JSON, %s in %s", path, f.Name, a, b, is))
		}
		c.compare(path+"."+f.Name, f.Type, there.Type)
	}
}

// jsonName is the name of a field in JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fieldNumber is the wire type and the number of a field.
func fieldNumber(f reflect.StructField) string {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return ""
	}
	return parts[0] + " " + parts[1]
}
