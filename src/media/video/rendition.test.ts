import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyNth } from '../../../test/lane.fixture.ts';
import { longVideo } from '../../../test/media/badvideos.fixture.ts';
import { matroskaClip, renditionSamples } from '../../../test/media/renditionsamples.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { createFfmpeg } from './ffmpeg.ts';
import { probeVideo } from './probing.ts';
import { isPlayable, renderRendition, renditionSize } from './rendition.ts';

const run = promisify(execFile);
const { signal } = new AbortController();

describe.skipIf(skipWithout('ffmpeg'))('a rendition', () => {
  const ffmpeg = createFfmpeg('ffmpeg');
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-renditions-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(everyNth(renditionSamples, 7))('decides for and renders $name', { timeout: 60_000 }, async (sample) => {
    const file = await render(sample, await mkdtemp(join(folder, 'sample-')));
    const facts = await probeVideo(ffmpeg, file);
    expect(facts).toMatchObject({ width: sample.width, height: sample.height, hasSound: sample.hasSound });
    expect(await isPlayable(file, facts, sample.mime)).toBe(sample.isPlayable);
    if (sample.isPlayable) return;
    const into = `${file}.play.mp4`;
    const percents: number[] = [];
    await renderRendition(ffmpeg, { file, facts }, into, signal, (percent) => percents.push(percent));
    const made = await probeVideo(ffmpeg, into);
    expect(made).toMatchObject({
      ...renditionSize(facts),
      ...{ codec: 'h264', pixelFormat: 'yuv420p', hasSound: sample.hasSound, hdrTransfer: undefined },
      soundCodec: sample.hasSound ? 'aac' : undefined,
    });
    expect(Math.min(made.width, made.height)).toBeLessThanOrEqual(1080);
    expect((made.durationMs ?? 0) / 1000).toBeCloseTo(sample.seconds, 0);
    expect(await isPlayable(into, made, 'video/mp4')).toBe(true);
    expect(percents.every((percent) => percent >= 0 && percent < 100)).toBe(true);
    // Plays as soon as it begins to arrive: the index comes before the media.
    const bytes = await readFile(into);
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  });

  it('has at most 60 frames per second', async () => {
    const file = join(folder, 'fast.mkv');
    const source = 'testsrc2=size=64x64:rate=120:duration=0.5';
    await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, '-c:v', 'libx264', file]);
    const facts = await probeVideo(ffmpeg, file);
    await renderRendition(ffmpeg, { file, facts }, join(folder, 'fast.mp4'), signal);
    expect((await probeVideo(ffmpeg, join(folder, 'fast.mp4'))).frameRate).toBe('60/1');
  });

  it('of a truncated file contains its beginning', async () => {
    const bytes = await readFile(await render(matroskaClip, await mkdtemp(join(folder, 'cut-'))));
    const file = join(folder, 'cut.mkv');
    await writeFile(file, bytes.subarray(0, bytes.length / 2));
    const facts = await probeVideo(ffmpeg, file);
    await renderRendition(ffmpeg, { file, facts }, join(folder, 'cut.mp4'), signal);
    expect((await probeVideo(ffmpeg, join(folder, 'cut.mp4'))).codec).toBe('h264');
  });

  it('is refused for more than two hours', async () => {
    const file = await render(longVideo, folder);
    const facts = await probeVideo(ffmpeg, file);
    const failing = renderRendition(ffmpeg, { file, facts }, join(folder, 'long.mp4'), signal);
    await expect(failing).rejects.toMatchObject({ reason: 'video_too_large' });
  });

  it('stops when it is aborted', async () => {
    const file = join(folder, 'slow.mp4');
    const source = 'testsrc2=size=160x90:rate=25:duration=120';
    await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, '-c:v', 'libx264', '-preset', 'ultrafast', file]);
    const facts = await probeVideo(ffmpeg, file);
    const controller = new AbortController();
    const stop = () => controller.abort(new Error('stopped'));
    const failing = renderRendition(ffmpeg, { file, facts }, join(folder, 'slow.play.mp4'), controller.signal, stop);
    await expect(failing).rejects.toThrow('stopped');
  });
});
