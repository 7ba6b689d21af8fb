package ui

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// The size of the small screenshots, and how much a channel may differ on average, of 255: the same state at another
// time has other names, ages and revisions, and other fonts on another machine.
const (
	smallWidth, smallHeight = 140, 85
	tolerance               = 9.0
)

// shoot keeps a screenshot in bin/ui.
func (p *page) shoot(name string) image.Image {
	p.t.Helper()
	var data []byte
	p.run(chromedp.CaptureScreenshot(&data))
	dir := filepath.Join("..", "..", "bin", "ui")
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
	if d := difference(got, want); d > tolerance {
		p.t.Errorf("%s differs by %.1f from testdata, more than %.1f; see bin/ui/%s.png", name, d, tolerance, name)
	}
}

// small is the picture, each pixel the average of many.
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

// difference is how much the channels differ on average.
func difference(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 255
	}
	sum := 0.0
	for y := range smallHeight {
		for x := range smallWidth {
			r, g, bl, _ := a.At(x, y).RGBA()
			s, h, c, _ := b.At(x, y).RGBA()
			for _, d := range []float64{float64(r) - float64(s), float64(g) - float64(h), float64(bl) - float64(c)} {
				sum += math.Abs(d) / 257
			}
		}
	}
	return sum / (3 * smallWidth * smallHeight)
}
