package ui

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	// smallWidth and smallHeight are the size of the small screenshots.
	smallWidth, smallHeight = 140, 85
	// partWidth and partHeight are the size of a part.
	partWidth, partHeight = 10, 5
	// A part is counted as different if its channels (0 to 255) differ by more than unlike on average. Of 238 parts, at
	// most mostUnlike may be different. The same state at another time has up to 5 such parts: names, ages and
	// revisions. Two different states of testdata have at least 15.
	unlike, mostUnlike = 12.0, 10
)

// shoot writes a screenshot to bin/ui.
func (p *page) shoot(name string) image.Image {
	p.t.Helper()
	var data []byte
	p.run(chromedp.CaptureScreenshot(&data))
	dir := filepath.Join("..", "..", "..", "bin", "ui")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644); err != nil {
		p.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	return picture
}

// looks compares a screenshot with the one of this name.
func (p *page) looks(name string) {
	p.t.Helper()
	got := small(p.shoot(name))
	path := filepath.Join("testdata", name+".png")
	if *update {
		var data bytes.Buffer
		if err := png.Encode(&data, got); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, data.Bytes(), 0o644); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	if n := difference(got, want); n > mostUnlike {
		p.t.Errorf("%s differs from testdata in %d parts, more than %d; see bin/ui/%s.png", name, n, mostUnlike, name)
	}
}

// TestComparisonDistinguishesStates: the comparison of pictures distinguishes the states in testdata.
func TestComparisonDistinguishesStates(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.png"))
	if err != nil || len(names) < 6 {
		t.Fatalf("%v, %v", names, err)
	}
	var all []image.Image
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		one, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for i, other := range all {
			if n := difference(one, other); n <= mostUnlike {
				t.Errorf("%s and %s differ in %d parts only", name, names[i], n)
			}
		}
		all = append(all, one)
	}
}

// small returns a small picture whose pixels are averages of the pixels of from.
func small(from image.Image) image.Image {
	b := from.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, smallWidth, smallHeight))
	for y := range smallHeight {
		for x := range smallWidth {
			var sum [3]uint64
			n := uint64(0)
			for v := b.Min.Y + y*b.Dy()/smallHeight; v < b.Min.Y+(y+1)*b.Dy()/smallHeight; v++ {
				for u := b.Min.X + x*b.Dx()/smallWidth; u < b.Min.X+(x+1)*b.Dx()/smallWidth; u++ {
					r, g, b, _ := from.At(u, v).RGBA()
					sum[0], sum[1], sum[2], n = sum[0]+uint64(r>>8), sum[1]+uint64(g>>8), sum[2]+uint64(b>>8), n+1
				}
			}
			out.Set(x, y, color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255})
		}
	}
	return out
}

// difference returns the number of parts in which the pictures differ.
func difference(a, b image.Image) int {
	if a.Bounds() != b.Bounds() {
		return math.MaxInt
	}
	sums := map[image.Point]float64{}
	for y := range smallHeight {
		for x := range smallWidth {
			r, g, bl, _ := a.At(x, y).RGBA()
			s, h, c, _ := b.At(x, y).RGBA()
			for _, d := range []float64{float64(r) - float64(s), float64(g) - float64(h), float64(bl) - float64(c)} {
				sums[image.Pt(x/partWidth, y/partHeight)] += math.Abs(d) / 257 / (3 * partWidth * partHeight)
			}
		}
	}
	n := 0
	for _, sum := range sums {
		if sum > unlike {
			n++
		}
	}
	return n
}
