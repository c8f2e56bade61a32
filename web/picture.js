// The user's image, cropped to the shape of the board. It is not uploaded.

const LONGEST = 1200;

export class Picture {
  /** Calls `show(url)` with an image in the shape of the board, or null. */
  constructor(show) {
    Object.assign(this, { show, bitmap: null, url: null });
  }

  async setFile(file) {
    this.revision = (this.revision ?? 0) + 1;
    const { revision } = this;
    this.bitmap = null;
    const bitmap = file ? await createImageBitmap(file) : null;
    // Another file may have been chosen, or none.
    if (revision === this.revision) this.bitmap = bitmap;
  }

  /** Crops the center of the image to the shape of the board. */
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
      // Image or shape may have changed.
      if (bitmap !== this.bitmap || shape !== this.shape) return;
      this.url = URL.createObjectURL(blob);
    }
    this.show(this.url);
  }
}
