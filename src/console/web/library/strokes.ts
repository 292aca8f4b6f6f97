/** Strokes of a brush over an image, and the mask that they make. */

export interface Stroke {
  /** From 0 to 1 of the width and the height of the image. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** The diameter of the brush, as a part of the width. */
  readonly size: number;
  readonly erases: boolean;
}

/** Draws in the color of the canvas, over what it shows. */
export function draw(canvas: HTMLCanvasElement, strokes: readonly Stroke[], color: string): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.strokeStyle = color;
  for (const { points, size, erases } of strokes) {
    const [first] = points;
    if (first === undefined) continue;
    context.globalCompositeOperation = erases ? 'destination-out' : 'source-over';
    context.lineWidth = size * width;
    context.beginPath();
    context.moveTo(first.x * width, first.y * height);
    // A line of no length shows a point.
    for (const { x, y } of points) context.lineTo(x * width, y * height);
    context.stroke();
  }
  context.globalCompositeOperation = 'source-over';
}

/** A PNG of this size in base64, opaque but for the strokes. `undefined`: there are none. */
export async function toMask(strokes: readonly Stroke[], width: number, height: number): Promise<string | undefined> {
  if (!strokes.some(({ erases }) => !erases)) return undefined;
  const painted = document.createElement('canvas');
  Object.assign(painted, { width, height });
  draw(painted, strokes, '#000');
  const mask = document.createElement('canvas');
  Object.assign(mask, { width, height });
  const context = mask.getContext('2d');
  if (context === null) throw new Error('This browser cannot create a mask.');
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = 'destination-out';
  context.drawImage(painted, 0, 0);
  return mask.toDataURL('image/png').split(',')[1];
}
