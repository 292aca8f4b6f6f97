/** Videos of the offline renderer: ffmpeg moves slowly over an image. Without ffmpeg, it returns a prepared clip of the same kind. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { mark, renderImage, sizeOf } from './images.ts';

const run = promisify(execFile);

const durationS = 2;
const frameRate = 12;
const timeoutMs = 60_000;
const sample = { file: new URL('./sample.mp4', import.meta.url), size: [640, 360] } as const;

export interface RenderedClip {
  readonly bytes: Uint8Array;
  readonly facts: { readonly width: number; readonly height: number; readonly durationMs: number };
  readonly poster: Uint8Array;
}

/** `firstFrame`: the image that moves. By default, one of the prompt. */
export async function renderClip(
  prompt: string,
  ratio: string,
  signal: AbortSignal,
  firstFrame?: Uint8Array,
): Promise<RenderedClip> {
  const [width, height] = sizeOf(ratio).map((side) => side / 2) as [number, number];
  const image =
    firstFrame === undefined
      ? await renderImage(prompt, [width, height], 0)
      : await sharp(firstFrame).rotate().resize(width, height, { fit: 'cover' }).png().toBuffer();
  const durationMs = durationS * 1000;
  const moving = await move(image, width, height, signal);
  if (moving !== undefined) return { bytes: moving, facts: { width, height, durationMs }, poster: image };
  const [sampleWidth, sampleHeight] = sample.size;
  const poster = await sharp(image).resize(sampleWidth, sampleHeight, { fit: 'cover' }).png().toBuffer();
  return {
    bytes: await readFile(sample.file),
    facts: { width: sampleWidth, height: sampleHeight, durationMs },
    poster,
  };
}

/** Returns `undefined` if ffmpeg is missing or lacks the needed features. */
async function move(image: Uint8Array, width: number, height: number, signal: AbortSignal) {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-clip-'));
  try {
    const [still, clip] = [join(folder, 'still.png'), join(folder, 'clip.mp4')];
    await writeFile(still, image);
    const frames = durationS * frameRate;
    // Zooms toward the lower left, so that the demo label stays visible.
    const zoom = `zoompan=z='1+0.15*on/${frames}':y='ih-ih/zoom':d=${frames}:s=${width}x${height}:fps=${frameRate}`;
    const input = ['-nostdin', '-loglevel', 'error', '-threads', '1', '-i', still];
    const output = [
      '-vf',
      zoom,
      '-frames:v',
      String(frames),
      '-c:v',
      'libx264',
      '-preset',
      'veryfast',
      '-pix_fmt',
      'yuv420p',
    ];
    const labeled = ['-metadata', `comment=${mark}`, '-movflags', '+faststart', clip];
    await run('ffmpeg', [...input, ...output, ...labeled], { timeout: timeoutMs, signal });
    return await readFile(clip);
  } catch {
    signal.throwIfAborted();
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
