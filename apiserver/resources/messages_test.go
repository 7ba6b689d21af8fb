package resources

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// removed are earlier versions that k8s.io/api no longer has. Its testdata has values of the releases that had them,
// and tests/e2e/backups reads these values.
var removed = []string{"certificates.k8s.io/v1alpha1 PodCertificateRequest", "networking.k8s.io/v1alpha1 IPAddress",
	"networking.k8s.io/v1alpha1 ServiceCIDR"}

// TestEarlierVersionsHaveTheSameMessages: the fields of each message of earlierVersions have the same numbers, wire
// types and JSON names in the version that decodes the message.
func TestEarlierVersionsHaveTheSameMessages(t *testing.T) {
	seen := 0
	for gv, e := range earlierVersions {
		for kind := range strings.FieldsSeq(e.kinds) {
			seen++
			gvk := schema.FromAPIVersionAndKind(gv, kind)
			old, err := clientscheme.Scheme.New(gvk)
			if gone := slices.Contains(removed, gv+" "+kind); err != nil || gone {
				if !gone || err == nil {
					t.Errorf("%s %s is removed: %v, %v", gv, kind, gone, err)
				}
				continue
			}
			as, ok := decodedAs(gvk)
			is, err := Scheme().New(as)
			if err != nil || !ok {
				t.Errorf("%s %s: %v", gv, kind, err)
				continue
			}
			c := comparison{seen: map[[2]reflect.Type]bool{}}
			c.compare(gv+" "+kind, reflect.TypeOf(old).Elem(), reflect.TypeOf(is).Elem())
			for _, d := range c.differences {
				t.Error(d)
			}
		}
	}
	if seen < 13 {
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

// jsonName returns the name of a field in JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fieldNumber returns the wire type and the number of a field.
func fieldNumber(f reflect.StructField) string {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return ""
	}
	return parts[0] + " " + parts[1]
}
