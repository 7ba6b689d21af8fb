package inflight

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/turns"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Config is what Limits are made of. All fields are needed.
type Config struct {
	// Requests bounds the requests that are served at the same time, watches aside: those of the level exempt, and, as
	// many again, all others, which flow schemas and priority levels share.
	Requests int
	// Memory bounds the bytes of memory that requests may take as estimated, besides their bodies. Bodies may take half
	// as much, at most exchange.MaxIntake; so may connections, and what clients leave unread.
	Memory int64
	// Timeout is how long a write may take. A request waits a quarter of that for memory and for its seat.
	Timeout time.Duration
	// Cache holds the flow schemas and priority levels.
	Cache *cache.Cache
	// Registry gathers the metrics.
	Registry *prometheus.Registry
	Log      *slog.Logger
}

// Limits are those of one server.
type Limits struct {
	intake exchange.Intake
	// unread is what answers hold that clients leave unread, and open watches.
	unread pool.Pools
	memory *budget.Budget
	flow   *flowcontrol.Controller
	flows  *flowcontrol.Live
	// connections are those of listeners that Listen has made.
	connections *connections.Table
	// long is for long work (see InTurn), by whom requests are counted for. short is for what comes before a request
	// has its seat (see TakeTurn), by the owners of connections.
	long  *turns.Turns[string]
	short *turns.Turns[connections.Owner]
	// patience is how long a request waits for memory.
	patience time.Duration
	log      *slog.Logger
}

// New returns Limits whose metrics are registered.
func New(c Config) *Limits {
	half := max(1, runtime.GOMAXPROCS(0)/2)
	l := &Limits{
		memory: budget.New(c.Memory, runtime.GOMAXPROCS(0)), short: turns.New[connections.Owner](Places(), half, MaxWaiting),
		long: turns.New[string](half, 0, 0), patience: c.Timeout / 4, log: c.Log,
		flow: flowcontrol.New(c.Requests, c.Timeout/4, c.Registry),
	}
	l.connections = connections.New(c.Memory/2, half, l.short)
	metrics.RegisterMemory(c.Registry, l.memory, &l.unread, l.connections)
	l.intake.Limit(min(exchange.MaxIntake, c.Memory/2))
	l.unread.Limit(c.Memory / 2)
	l.flows = flowcontrol.NewLive(l.flow, c.Cache, c.Log)
	return l
}

// Listen returns a listener whose connections count (see package connections): what clients keep that have sent no
// whole request, or have a connection only, is bounded. Connections of other listeners are not.
func (l *Limits) Listen(from net.Listener) net.Listener { return l.connections.Listen(from) }

// ListenTLS is Listen for connections that speak TLS.
func (l *Limits) ListenTLS(from net.Listener, config *tls.Config) net.Listener {
	return l.connections.ListenTLS(from, config, l.log)
}

// EndUnused is for a server that shuts down next: see connections.Table.
func (l *Limits) EndUnused() { l.connections.EndUnused() }

// Abandon is for a server that closes all connections next: see connections.Table.
func (l *Limits) Abandon() { l.connections.Abandon() }

// CountIn counts what the request's client leaves unread for the user.
func (l *Limits) CountIn(r *http.Request, user authentication.User) {
	exchange.Of(r).CountIn(l.unread.Of(user), user.Name)
}

// CountHead counts so many bytes of a request's URL and headers for the user, as answers that are left unread count,
// until the recorder's EndHead. cut is called if the request has to end for another user's. It reports whether there is
// room.
func (l *Limits) CountHead(r *http.Request, user authentication.User, bytes int64, cut func()) bool {
	return exchange.Of(r).CountHead(l.unread.Of(user), user.Name, bytes, r.Body, cut)
}

// RecountHead counts for the user what CountHead has counted. It reports whether there is room.
func (l *Limits) RecountHead(r *http.Request, user authentication.User) bool {
	return exchange.Of(r).RecountHead(l.unread.Of(user), user.Name)
}

// ReadBody reads the request's body into memory that counts for the user until release. unused says that nothing
// looks at it. The errors are those of exchange.Intake.
func (l *Limits) ReadBody(
	r *http.Request, user authentication.User, unused bool,
) (read *http.Request, held *pool.Holding, release func(), err error) {
	return l.intake.Take(r, user, unused)
}

// Sharing is the number of unread responses that hold memory that other responses may hold, too, such as an event of
// many watches. The server doesn't call it: it is exported for the tests of package endpoints, which wait for it.
func (l *Limits) Sharing() int { return l.unread.Sharing() }

// Memory is how much memory requests hold and how many wait for it.
func (l *Limits) Memory() budget.Counts { return l.memory.Counts() }
