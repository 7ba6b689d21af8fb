package ui

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tops creates tops ConfigMaps, each with each dependents.
func (s *server) tops(tops, each int) (uids []string) {
	s.t.Helper()
	for i := range tops {
		name := fmt.Sprintf("top-%d", i)
		uids = append(uids, s.create(configMaps, name, ""))
		for j := range each {
			s.create(configMaps, fmt.Sprintf("%s-%d", name, j), owned(name, uids[i]))
		}
	}
	return uids
}

// record begins to record the intervals of frames, in milliseconds.
const record = `(() => { const all = window.frames2 = []; let last = performance.now();
	const frame = (now) => { all.push(now - last); last = now; if (window.frames2 === all) requestAnimationFrame(frame); };
	requestAnimationFrame(frame); })()`

// recorded ends the recording, and returns statistics of the intervals.
const recorded = `(() => { const a = window.frames2.slice(1).sort((x, y) => x - y); window.frames2 = null;
	return {median: a[a.length >> 1], p95: a[Math.floor(a.length * 0.95)], longest: a[a.length - 1], count: a.length}; })()`

// drag moves the picture back and forth with the mouse.
func (p *page) drag(moves int) {
	p.t.Helper()
	x, y := 700.0, 380.0
	p.run(input.DispatchMouseEvent(input.MousePressed, x, y).WithButton(input.Left).WithClickCount(1))
	for i := range moves {
		step := 8.0
		if i%40 >= 20 {
			step = -step
		}
		x, y = x+step, y+step/2
		p.run(input.DispatchMouseEvent(input.MouseMoved, x, y).WithButton(input.Left))
	}
	p.run(input.DispatchMouseEvent(input.MouseReleased, x, y).WithButton(input.Left).WithClickCount(1))
}

// wheel zooms in and out.
func (p *page) wheel(turns int) {
	p.t.Helper()
	for i := range turns {
		delta := -60.0
		if i%20 >= 10 {
			delta = 60
		}
		p.run(input.DispatchMouseEvent(input.MouseWheel, 700, 380).WithDeltaX(0).WithDeltaY(delta))
	}
}

// heap returns the memory of the page's objects in MiB after a garbage collection.
func (p *page) heap() float64 {
	p.t.Helper()
	var used float64
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		if err := heapprofiler.CollectGarbage().Do(ctx); err != nil {
			return err
		}
		var err error
		used, _, _, _, err = runtime.GetHeapUsage().Do(ctx)
		return err
	}))
	return used / (1 << 20)
}

type frames struct{ Median, P95, Longest, Count float64 }

func (p *page) frames(b *testing.B, name string, do func()) {
	p.run(chromedp.Evaluate(record, nil))
	do()
	f := eval[frames](p, recorded)
	b.ReportMetric(f.Median, name+"-ms/frame")
	b.ReportMetric(f.P95, name+"-p95-ms")
	b.ReportMetric(f.Longest, name+"-longest-ms")
	if f.Count < 10 {
		b.Errorf("%s: %v frames", name, f.Count)
	}
}

// BenchmarkObjects: the intervals of frames while the picture is moved, zoomed, and while 20 objects a second change,
// and the memory of the page; with 2,000 objects drawn one by one, and with 19,000 in groups.
func BenchmarkObjects(b *testing.B) {
	for _, c := range []struct{ tops, each int }{{20, 99}, {190, 99}} {
		b.Run(strconv.Itoa(c.tops*(c.each+1)), func(b *testing.B) {
			s := serve(b, "--controllers=-garbage-collector-controller")
			uids := s.tops(c.tops, c.each)
			p := open(b, s.URL+"/ui/")
			p.says("#status", "live")
			p.until(fmt.Sprintf(`document.querySelector("#fact-objects")?.innerText > %d`, len(uids)*c.each))
			p.until(`window.kubecascade.drawn() > 1`)
			for b.Loop() {
				p.frames(b, "still", func() { p.run(chromedp.Sleep(3 * time.Second)) })
				p.frames(b, "drag", func() { p.drag(200) })
				p.frames(b, "zoom", func() { p.wheel(100) })
				p.frames(b, "live", func() { s.change(200, 50*time.Millisecond) })
				b.ReportMetric(p.heap(), "MiB")
			}
		})
	}
}

// change changes an object the given number of times.
func (s *server) change(times int, every time.Duration) {
	s.t.Helper()
	for i := range times {
		s.label(i%90, i)
		time.Sleep(every)
	}
}

func (s *server) label(object, value int) {
	s.t.Helper()
	s.send("PATCH", configMaps+"/top-0-"+strconv.Itoa(object), `{"metadata":{"labels":{"n":"`+strconv.Itoa(value)+`"}}}`)
}

// BenchmarkHistory: the page's memory after 25,000 changes, of which it keeps 20,000.
func BenchmarkHistory(b *testing.B) {
	s := serve(b)
	s.tops(1, 99)
	p := open(b, s.URL+"/ui/")
	p.until(`window.kubecascade.drawn() === 100`)
	for b.Loop() {
		b.ReportMetric(p.heap(), "MiB-before")
		var all sync.WaitGroup
		for w := range 8 {
			all.Go(func() {
				for i := range 25000 / 8 {
					s.label(w*10+i%10, i)
				}
			})
		}
		all.Wait()
		p.says("#log", "metadata changed")
		p.run(chromedp.Sleep(2 * time.Second))
		b.ReportMetric(p.heap(), "MiB-after")
	}
}

// BenchmarkIdle: the processor time of the server without a page and with one open, in percent, and its memory in MiB,
// with 2,000 objects.
func BenchmarkIdle(b *testing.B) {
	s := serve(b)
	s.tops(20, 99)
	for b.Loop() {
		time.Sleep(10 * time.Second)
		b.ReportMetric(s.load(b, time.Minute), "%-without")
		b.ReportMetric(s.resident(b), "MiB-without")
		p := open(b, s.URL+"/ui/")
		p.until(`window.kubecascade.drawn() === 2000`)
		p.run(chromedp.Sleep(10 * time.Second))
		b.ReportMetric(s.load(b, time.Minute), "%-with")
		b.ReportMetric(s.resident(b), "MiB-with")
		p.says("#status", "live")
	}
}

// load returns the share of a processor that the server takes in a time, in percent, from /proc of Linux.
func (s *server) load(b *testing.B, d time.Duration) float64 {
	before := s.ticks(b)
	time.Sleep(d)
	return float64(s.ticks(b)-before) / d.Seconds() // a tick is 1/100 s
}

func (s *server) ticks(b *testing.B) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	return user + system
}

func (s *server) resident(b *testing.B) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.PID()))
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}
