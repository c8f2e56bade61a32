// A picture of a person's own, cut to the shape of a board. It stays in the browser.

const LONGEST = 1200;

export class Picture {
  /** `show(url)` is called with a picture of the board's shape, or with null. */
  constructor(show) {
    Object.assign(this, { show, bitmap: null, url: null });
  }

  async take(file) {
    this.turn = (this.turn ?? 0) + 1;
    const { turn } = this;
    this.bitmap = null;
    const bitmap = file ? await createImageBitmap(file) : null;
    // Another one, or none, may be wanted by now.
    if (turn === this.turn) this.bitmap = bitmap;
  }

  /** Cuts the middle out of the picture, as wide and as high as the board is. */
  async fit(shape) {
    const { rows, cols } = shape;
    this.shape = shape;
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = null;
    if (this.bitmap) {
      const { width, height } = this.bitmap;
      const cell = Math.min(width / cols, height / rows);
      const scale = Math.min(1, LONGEST / (cell * Math.max(rows, cols)));
      const canvas = document.createElement('canvas');
      canvas.width = Math.max(1, Math.round(cell * cols * scale));
      canvas.height = Math.max(1, Math.round(cell * rows * scale));
      const [left, top] = [(width - cell * cols) / 2, (height - cell * rows) / 2];
      canvas.getContext('2d').drawImage(this.bitmap, left, top, cell * cols, cell * rows, 0, 0, canvas.width, canvas.height);
      const { bitmap } = this;
      const blob = await new Promise((resolve) => { canvas.toBlob(resolve, 'image/webp', 0.9); });
      // Another picture, or another shape, may be wanted by now.
      if (bitmap !== this.bitmap || shape !== this.shape) return;
      this.url = URL.createObjectURL(blob);
    }
    this.show(this.url);
  }
}
