package shootout_test

import (
	"image/color"
	"image/png"
	"os"
	"testing"

	"github.com/weirmq/weir/bench/shootout"
)

// blobMax is what a file in the repository may have.
const blobMax = 256 << 10

func TestTheOverviewOfAShootoutIsAPictureWithTheBarsOfWeirThatTheRepositoryCanHold(t *testing.T) {
	t.Parallel()
	measured := &shootout.Shootout{Results: []shootout.Result{
		{System: "weir", Title: "Weir, SQL", Setting: "best", Workload: "send-100", Repetition: 1, Rate: 300_000},
		{System: "pgmq", Title: "PGMQ", Setting: "best", Workload: "send-100", Repetition: 1, Rate: 100_000},
		{System: "weir", Title: "Weir, SQL", Setting: "best", Workload: "cycle-1", Repetition: 1, Rate: 1000},
	}}
	dir := t.TempDir()
	if _, err := measured.WriteReports(dir); err != nil {
		t.Fatal(err)
	}
	path, err := measured.Photograph(t.Context(), dir)
	if err != nil || path == "" {
		t.Fatalf("picture %q, error %v; install Debian's package chromium", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > blobMax {
		t.Errorf("the picture has %d bytes, more than %d", info.Size(), blobMax)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	own := color.RGBA{R: 0x0b, G: 0x7a, B: 0x75, A: 0xff} // of overviewStyle
	pixels := 0
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			if color.RGBAModel.Convert(picture.At(x, y)) == own {
				pixels++
			}
		}
	}
	if least := 2 * 200 * 2 * 13 / 2; pixels < least { // two bars of about 200 by 13 units, 2 by 2 pixels each
		t.Errorf("%d pixels have the colour of Weir's bars, expected %d or more", pixels, least)
	}
}
