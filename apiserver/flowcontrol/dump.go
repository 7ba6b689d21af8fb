package flowcontrol

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apiserver/pkg/util/flowcontrol/debug"
)

// dump is a table of kube-apiserver's debug paths (AS pkg/util/flowcontrol/apf_controller_debug.go).
type dump struct {
	columns []string
	rows    func(l dumped) [][]string
}

// dumped is the state of a priority level and its queues.
type dumped struct {
	debug.QueueSetDump
	name            string
	idle, quiescing bool
}

var dumps = map[string]dump{
	"dump_priority_levels": {[]string{"PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests",
		"ExecutingRequests", "DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests"}, levelRows},
	"dump_queues": {[]string{"PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse",
		"NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"}, queueRows},
	"dump_requests": {[]string{"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue",
		"FlowDistingsher", "ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"}, requestRows},
}

// Dumps returns the names of the tables that Dump writes.
func Dumps() []string { return slices.Sorted(maps.Keys(dumps)) }

// Dump writes a table of the priority levels, of their queues or of the requests in them. It returns an error if w
// fails or if there is no table of that name.
func (l *Live) Dump(w io.Writer, name string) error {
	table, ok := dumps[name]
	if !ok {
		return errors.New("flowcontrol: there is no table " + name)
	}
	t := tabwriter.NewWriter(w, 8, 0, 1, ' ', 0)
	rows := [][]string{table.columns}
	for _, d := range l.controller.dump() {
		rows = append(rows, table.rows(d)...)
	}
	for _, row := range rows {
		if _, err := fmt.Fprintln(t, strings.Join(row, ",\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// dump returns all priority levels, sorted by name. A removed level is quiescing until its requests have ended.
func (c *Controller) dump() (all []dumped) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(c.queues)) {
		q := c.queues[name]
		level := c.config.levels[name]
		d := dumped{q.Dump(false), name, q.IsIdle(), level == nil}
		if level != nil && level.exempt {
			d.Executing = int(c.exempt.Load())
			d.idle = d.Executing == 0
		}
		all = append(all, d)
	}
	return all
}

func levelRows(l dumped) [][]string {
	active := 0
	for _, q := range l.Queues {
		active += min(len(q.Requests), 1)
	}
	return [][]string{{l.name, strconv.Itoa(active), strconv.FormatBool(l.idle), strconv.FormatBool(l.quiescing),
		strconv.Itoa(l.Waiting), strconv.Itoa(l.Executing), strconv.Itoa(l.Dispatched), strconv.Itoa(l.Rejected),
		strconv.Itoa(l.Timedout), strconv.Itoa(l.Cancelled)}}
}

func queueRows(l dumped) (rows [][]string) {
	for i, q := range l.Queues {
		rows = append(rows, []string{l.name, strconv.Itoa(i), strconv.Itoa(len(q.Requests)),
			strconv.Itoa(q.ExecutingRequests), strconv.Itoa(q.SeatsInUse), q.NextDispatchR,
			strconv.Itoa(q.QueueSum.InitialSeatsSum), strconv.Itoa(q.QueueSum.MaxSeatsSum), q.QueueSum.TotalWorkSum})
	}
	return rows
}

// requestRows returns a row for each request. RequestIndexInQueue is the position of a waiting request, and -1 for one
// that is being served. QueueIndex is -1 for a request of a level without queues.
func requestRows(l dumped) (rows [][]string) {
	add := func(queue, index int, r debug.RequestDump) {
		rows = append(rows, []string{l.name, r.MatchedFlowSchema, strconv.Itoa(queue), strconv.Itoa(index),
			r.FlowDistinguisher, r.ArriveTime.UTC().Format(time.RFC3339Nano),
			strconv.FormatUint(r.WorkEstimate.InitialSeats, 10), strconv.FormatUint(r.WorkEstimate.FinalSeats, 10),
			r.WorkEstimate.AdditionalLatency.String(), r.StartTime.UTC().Format(time.RFC3339Nano)})
	}
	for i, q := range l.Queues {
		for at, r := range q.Requests {
			add(i, at, r)
		}
		for _, r := range q.RequestsExecuting {
			add(i, -1, r)
		}
	}
	for _, r := range l.QueuelessExecutingRequests {
		add(-1, -1, r)
	}
	return rows
}
