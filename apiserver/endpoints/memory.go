package endpoints

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/weight"
)

// maxBodyMemory bounds what one body may take, however much memory there is: larger blocks of memory are copied and
// cleared without a pause, so that all requests wait.
const maxBodyMemory = 256 << 20

// maxJSONPatchMemory is maxBodyMemory for a JSON patch. Its estimate assumes that all values which it may copy are the
// costliest of the object's kind, so it is further from what the patch takes.
const maxJSONPatchMemory = 2 * maxBodyMemory

// slowBody is the number of bytes whose estimate takes milliseconds.
const slowBody = 256 << 10

// parkedPart: a write needs at most a quarter of its estimate while it waits for admission webhooks: the decoded
// object, its JSON, and the reviews with that. TestParked measures it.
const parkedPart = 4

// convertedPart is parkedPart for requests that wait for conversion webhooks, with copies of their objects.
const convertedPart = 2

// errDeferred: the request continues with q.rest once it holds the memory for it. No client sees it.
var errDeferred = errors.New("the request waits for memory")

// charge waits until there is memory for what is known of the request before it is served. What YAML with aliases
// stands for is known once it is parsed, which takes memory as well.
func (a *API) charge(req *request) error {
	body, media := req.body(), req.media()
	bytes, exact, err := a.weighInTurn(req, media, body)
	if err != nil {
		return err
	}
	if exact || bytes <= budget.Light && !weight.Aliased(body) {
		return req.memory.Reserve(req.r, bytes, req.mostMemory())
	}
	tree, _ := codec.TreeKind.YAML(body)
	if err := req.memory.Reserve(req.r, tree.Write(), 0); err != nil {
		return err
	}
	if codec.CheckAliases(body) != nil {
		return nil // the decoder returns the error
	}
	data, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil // as above
	}
	bytes, _ = a.weigh(req, codec.MediaJSON, data)
	return req.memory.Reserve(req.r, tree.Write()+bytes, tree.Write()+maxBodyMemory)
}

// mostMemory is what the request's body may take.
func (req *request) mostMemory() int64 {
	if req.verb == "patch" && types.PatchType(patchMedia(req.r)) == types.JSONPatchType {
		return maxJSONPatchMemory
	}
	return maxBodyMemory
}

// weighInTurn is weigh.
func (a *API) weighInTurn(req *request, media string, body []byte) (n int64, exact bool, err error) {
	err = a.limits.InTurn(req.r, req.User.Name, len(body) > slowBody, func() { n, exact = a.weigh(req, media, body) })
	return n + req.recordedBody(len(body)) + a.admissionCost(req, n), exact, err
}

// admissionCost is the memory of what webhooks and policies get of a request that takes n bytes by itself: its objects
// in another version, and for each webhook that is called at the same time the review with their JSON.
func (a *API) admissionCost(req *request, n int64) int64 {
	versions, reviews := a.registry.AdmissionCopies(&req.Operation, req.verb)
	if versions == 0 {
		return 0
	}
	if reviews > 0 {
		req.memory.MayWait(parkedPart)
	}
	if req.verb == "delete" { // which decodes the object for them
		n += a.weighStored(req)
	}
	review := min(n/2, max(n/8, 3*int64(len(req.body()))))
	return n*int64(versions) + review*int64(reviews)
}

// afford makes an answer that takes so much memory: in the request's seat, if there is that much at once. Else the
// request gives its seat back, waits, and continues in another. The memory that the request holds already counts
// towards the answer: nothing else needs it by then.
func (req *request) afford(bytes int64, answer func() error) error {
	if req.memory.Try(bytes) {
		return answer()
	}
	req.rest, req.wants = answer, bytes
	return errDeferred
}
