import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyNth } from '../../../test/lane.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { createFfmpeg } from './ffmpeg.ts';
import { takePoster } from './poster.ts';
import { probeVideo } from './probing.ts';

const run = promisify(execFile);
const { signal } = new AbortController();
const size = '160x90';
const scene = (seconds: number) => `testsrc2=size=${size}:rate=10:duration=${seconds}`;
const color = (name: string, seconds: number) => `color=${name}:size=${size}:rate=10:duration=${seconds}`;

describe.skipIf(skipWithout('ffmpeg'))('a poster', () => {
  const ffmpeg = createFfmpeg('ffmpeg');
  let folder: string;
  let start: Uint8Array;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-posters-'));
    start = await posterOf('start', [scene(4)], 'null');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function posterOf(name: string, sources: readonly string[], filter: string): Promise<Uint8Array> {
    const file = join(folder, `${name}.mp4`);
    const inputs = sources.flatMap((source) => ['-f', 'lavfi', '-i', source]);
    const graph = ['-filter_complex', `${filter},format=yuv420p[v]`, '-map', '[v]'];
    await run('ffmpeg', ['-v', 'error', ...inputs, ...graph, '-c:v', 'libx264', '-preset', 'ultrafast', file]);
    const facts = await probeVideo(ffmpeg, file);
    return takePoster(ffmpeg, { file, facts }, join(folder, `${name}.jpg`), signal);
  }
  /** How much neighboring pixels differ. */
  const sharpnessOf = async (image: Uint8Array) => (await sharp(image).stats()).sharpness;

  const flaws: readonly (readonly [name: string, sources: readonly string[], filter: string])[] = [
    ['a black start', [color('black', 5), scene(3)], '[0][1]concat'],
    ['a white start', [color('white', 5), scene(3)], '[0][1]concat'],
    ['a black end', [scene(3), color('black', 5)], '[0][1]concat'],
    ['a slow fade from black', [scene(8)], 'fade=t=in:d=6'],
    ['a slow fade to black', [scene(8)], 'fade=t=out:st=1:d=7'],
    ['a blurred start', [scene(5), scene(3)], '[0]gblur=sigma=8[soft];[soft][1]concat'],
  ];

  it.each(everyNth(flaws, 4))('is a sharp frame in full contrast despite %s', async (name, sources, filter) => {
    const poster = await posterOf(name.replaceAll(' ', '-'), sources, filter);
    expect(await sharpnessOf(poster)).toBeGreaterThan(0.6 * (await sharpnessOf(start)));
  });

  it('is from the start if all frames are alike', async () => {
    // The later scene is the same, in negative.
    const poster = await posterOf('alike', [scene(4), scene(4)], '[1]negate[late];[0][late]concat');
    const gray = (image: Uint8Array) => sharp(image).resize(16, 9).grayscale().raw().toBuffer();
    const [a, b] = await Promise.all([gray(poster), gray(start)]);
    const difference = a.reduce((sum, level, index) => sum + Math.abs(level - (b[index] ?? 0)), 0) / a.length;
    expect(difference).toBeLessThan(25);
  });

  it('of a black video is black', async () => {
    const { channels } = await sharp(await posterOf('black', [color('black', 2)], 'null')).stats();
    expect(Math.max(...channels.map(({ max }) => max))).toBeLessThan(16);
  });
});
