package entry

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// part is the number of items of a list that are validated at a time.
const part = 1000

// excerpt is a shallow copy of an object for the declared rules. Its metadata has only the name, because rules for
// other metadata are alpha. It has a part of each long list. Lists in lists are complete.
type excerpt struct {
	obj   runtime.Object
	lists []longList
}

// longList is a list of an object, or of its spec or status, with more than part items.
type longList struct {
	path string
	// in is the field of the copy, and all the whole list of the object. start is the index of the first item in the
	// copy.
	in, all reflect.Value
	start   int
}

func excerptOf(obj runtime.Object) *excerpt {
	v := reflect.New(reflect.TypeOf(obj).Elem())
	v.Elem().Set(reflect.ValueOf(obj).Elem())
	x := &excerpt{obj: v.Interface().(runtime.Object)}
	if a, ok := x.obj.(metav1.ObjectMetaAccessor); ok {
		if m, ok := a.GetObjectMeta().(*metav1.ObjectMeta); ok {
			*m = metav1.ObjectMeta{Name: m.Name, GenerateName: m.GenerateName, Namespace: m.Namespace}
		}
	}
	x.find(v.Elem(), "")
	return x
}

// find collects the long lists of a struct and of the structs in it.
func (x *excerpt) find(v reflect.Value, at string) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		f := v.Field(i)
		switch {
		case name == "" || name == "metadata":
		case f.Kind() == reflect.Struct && at == "":
			x.find(f, name+".")
		case f.Kind() == reflect.Slice && f.Len() > part:
			x.lists = append(x.lists, longList{path: at + name, in: f, all: reflect.ValueOf(f.Interface())})
		}
	}
}

// cut sets the part of each long list that begins at the item start. A shorter list keeps its last part. cut reports
// whether there is another part.
func (x *excerpt) cut(start int) (more bool) {
	for i := range x.lists {
		l := &x.lists[i]
		n := l.all.Len()
		if start < n {
			l.start = start
			l.in.Set(l.all.Slice(start, min(start+part, n)))
		}
		more = more || start+part < n
	}
	return more
}

// shift changes the index of an item in an error to that in the whole list.
func (x *excerpt) shift(err *field.Error) {
	for i := range x.lists {
		l := &x.lists[i]
		rest, ok := strings.CutPrefix(err.Field, l.path+"[")
		if !ok {
			continue
		}
		number, rest, _ := strings.Cut(rest, "]")
		if n, e := strconv.Atoi(number); e == nil {
			err.Field = fmt.Sprintf("%s[%d]%s", l.path, l.start+n, rest)
		}
		return
	}
}
