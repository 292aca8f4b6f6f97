import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Brand, defaultBrand } from '#image/engine/brand.ts';
import { everyNth, isNightly } from '../../../test/lane.fixture.ts';
import { render, samples } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { brandVideo } from './branding.ts';
import { createFfmpeg, VideoFault } from './ffmpeg.ts';
import { shrink, takePoster } from './poster.ts';
import { probeVideo } from './probing.ts';
import { renderRendition } from './rendition.ts';

const run = promisify(execFile);
const { signal } = new AbortController();

describe.skipIf(skipWithout('ffmpeg'))('a video', () => {
  const ffmpeg = createFfmpeg('ffmpeg');
  const brand = defaultBrand;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-branding-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Grey levels of one frame at a time, as a player shows it. */
  async function frameAt(file: string, second: number) {
    const args = [
      '-v',
      'error',
      '-ss',
      second.toFixed(3),
      '-i',
      file,
      '-frames:v',
      '1',
      '-f',
      'image2pipe',
      '-c:v',
      'png',
      '-',
    ];
    const { stdout } = await run('ffmpeg', args, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 });
    return sharp(stdout);
  }
  const brightness = async (
    file: string,
    second: number,
    area?: { left: number; top: number; width: number; height: number },
  ) => {
    const frame = await frameAt(file, second);
    const { data } = await (area ? frame.extract(area) : frame).grayscale().raw().toBuffer({ resolveWithObject: true });
    return {
      mean: data.reduce((sum, level) => sum + level, 0) / data.length,
      most: data.reduce((most, level) => Math.max(most, level), 0),
    };
  };
  const soundOf = async (file: string, from: number, to: number) => {
    const args = [
      '-hide_banner',
      '-ss',
      String(from),
      '-to',
      String(to),
      '-i',
      file,
      '-af',
      'volumedetect',
      '-vn',
      '-f',
      'null',
      '-',
    ];
    const { stderr } = await run('ffmpeg', args);
    return Number(/mean_volume: (-?[\d.]+|-inf)/.exec(stderr)?.[1] ?? Number.NaN);
  };

  describe.each(everyNth(samples, 9))('$name', (sample) => {
    let file: string;
    beforeAll(async () => {
      file = await render(sample, folder);
    });

    it('is probed as players show it', async () => {
      const facts = await probeVideo(ffmpeg, file);
      const { width, height, hasSound, seconds } = sample;
      expect(facts).toMatchObject({ width, height, hasSound });
      expect((facts.durationMs ?? 0) / 1000).toBeCloseTo(seconds, 0);
    });

    it('makes an upright poster', async () => {
      const facts = await probeVideo(ffmpeg, file);
      const poster = await takePoster(ffmpeg, { file, facts }, join(folder, 'poster.jpg'), signal);
      const { format, width, height } = await sharp(poster).metadata();
      expect({ format, width, height }).toEqual({ format: 'jpeg', ...shrink(facts) });
      const { channels } = await sharp(poster).stats();
      expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(20);
    });

    it('is branded, with its closing clip and its sound', { timeout: 60_000 }, async () => {
      const facts = await probeVideo(ffmpeg, file);
      const into = join(folder, `${samples.indexOf(sample)}.wm.mp4`);
      await brandVideo(ffmpeg, brand, { file, facts }, { mark: join(folder, 'mark'), into }, signal);
      const made = await probeVideo(ffmpeg, into);
      expect(made).toMatchObject({ ...shrink(facts), hasSound: sample.hasSound });
      expect((made.durationMs ?? 0) / 1000).toBeGreaterThan(sample.seconds + 1.8);
      expect((made.durationMs ?? 0) / 1000).toBeLessThan(sample.seconds + 2.3);
      // The closing clip: dark, with bright letters.
      const closing = await brightness(into, sample.seconds + 1.5);
      expect(closing.mean).toBeLessThan(80);
      expect(closing.most).toBeGreaterThan(150);
      // The video itself is not.
      expect((await brightness(into, 0)).mean).toBeGreaterThan(80);
      if (!sample.hasSound) return;
      expect(await soundOf(into, 0.1, Math.min(0.4, sample.seconds))).toBeGreaterThan(-40);
      expect(await soundOf(into, sample.seconds + 0.7, sample.seconds + 1.7)).toBeLessThan(-80);
    });
  });

  describe('with BRAND_CLOSING_CLIP', () => {
    const sine = ['-f', 'lavfi', '-i', 'sine=f=440:d=1', '-shortest'];
    const clipOf = async (name: string, color: string, sound: readonly string[] = []) => {
      const file = join(folder, name);
      const image = ['-f', 'lavfi', '-i', `color=${color}:s=320x180:d=1:r=10`];
      await run('ffmpeg', ['-v', 'error', '-y', ...image, ...sound, '-pix_fmt', 'yuv420p', file]);
      return file;
    };
    const brandedWith = async (closing: Brand['closing'], file: string) => {
      const into = join(folder, 'closed.mp4');
      const facts = await probeVideo(ffmpeg, file);
      const files = { mark: join(folder, 'mark'), into };
      await brandVideo(ffmpeg, { ...brand, closing }, { file, facts }, files, signal);
      const { durationMs, hasSound } = await probeVideo(ffmpeg, into);
      return { into, seconds: (durationMs ?? 0) / 1000, hasSound };
    };

    it.runIf(isNightly)('none, ends with the video and its sound', async () => {
      const made = await brandedWith('none', await clipOf('loud.mp4', 'gray', sine));
      expect([made.seconds, made.hasSound]).toEqual([expect.closeTo(1, 0), true]);
      expect(await soundOf(made.into, 0.2, 0.8)).toBeGreaterThan(-40);
      expect((await brightness(made.into, 0.8)).mean).toBeGreaterThan(80);
      const silent = await brandedWith('none', await clipOf('silent.mp4', 'gray'));
      expect([silent.seconds, silent.hasSound]).toEqual([expect.closeTo(1, 0), false]);
    });

    it('a clip with sound, is seen and heard after a video with sound, and only seen after a silent one', async () => {
      const closing = { path: await clipOf('jingle.mp4', 'white', sine), sha256: '0' };
      const made = await brandedWith(
        closing,
        await clipOf('quiet.mp4', 'black', ['-f', 'lavfi', '-i', 'anullsrc', '-shortest']),
      );
      expect([made.seconds, made.hasSound]).toEqual([expect.closeTo(2, 0), true]);
      expect(await soundOf(made.into, 0.2, 0.8)).toBeLessThan(-80);
      expect(await soundOf(made.into, 1.2, 1.8)).toBeGreaterThan(-40);
      expect((await brightness(made.into, 1.5)).mean).toBeGreaterThan(200);
      const silent = await brandedWith(closing, await clipOf('silent.mp4', 'black'));
      expect([silent.seconds, silent.hasSound]).toEqual([expect.closeTo(2, 0), false]);
      expect((await brightness(silent.into, 1.5)).mean).toBeGreaterThan(200);
    });
  });

  it('bears the mark at its lower right while it lasts', async () => {
    const black = join(folder, 'black.mp4');
    await run('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', 'color=black:s=640x360:d=1', black]);
    const facts = await probeVideo(ffmpeg, black);
    const into = join(folder, 'black.wm.mp4');
    await brandVideo(ffmpeg, brand, { file: black, facts }, { mark: join(folder, 'mark'), into }, signal);
    for (const second of [0, 0.9]) {
      expect((await brightness(into, second, { left: 480, top: 300, width: 160, height: 60 })).most).toBeGreaterThan(
        110,
      );
      expect((await brightness(into, second, { left: 0, top: 0, width: 400, height: 300 })).most).toBeLessThan(30);
    }
    // Streams as soon as it begins to arrive: the index comes before the media.
    const bytes = await readFile(into);
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  });

  it.runIf(isNightly).each([
    // A red of an SDR image, in the code values of each transfer function.
    ['PQ', 'smpte2084', [401, 466, 597]],
    ['HLG', 'arib-std-b67', [386, 460, 672]],
  ])(
    'in %s has a poster and a watermark in the colors of its rendition, tagged as SDR',
    async (_name, transfer, yuv) => {
      const [lum, cb, cr] = yuv;
      const file = join(folder, `${transfer}.mp4`);
      const image = `color=black:size=160x90:rate=10:duration=1,format=yuv420p10le,geq=lum=${lum}:cb=${cb}:cr=${cr}`;
      const tags = ['-color_primaries', 'bt2020', '-color_trc', transfer, '-colorspace', 'bt2020nc'];
      const encoding = ['-c:v', 'libx265', '-x265-params', 'log-level=none'];
      await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', image, ...encoding, ...tags, file]);
      const facts = await probeVideo(ffmpeg, file);
      expect(facts.hdrTransfer).toBe(transfer);
      const [into, rendition] = [`${file}.wm.mp4`, `${file}.rendition.mp4`];
      await brandVideo(ffmpeg, brand, { file, facts }, { mark: join(folder, 'mark'), into }, signal);
      await renderRendition(ffmpeg, { file, facts }, rendition, signal);
      const poster = await takePoster(ffmpeg, { file, facts }, `${file}.jpg`, signal);
      const colorOf = async (image: Sharp) =>
        image.extract({ left: 20, top: 20, width: 1, height: 1 }).removeAlpha().raw().toBuffer();
      const wanted = await colorOf(await frameAt(rendition, 0));
      for (const seen of [await colorOf(sharp(poster)), await colorOf(await frameAt(into, 0))])
        for (const channel of [0, 1, 2])
          expect(Math.abs(Number(seen[channel]) - Number(wanted[channel]))).toBeLessThanOrEqual(4);
      // A strong red: unmapped it is brown.
      expect(Number(wanted[0])).toBeGreaterThan(3 * Number(wanted[1]));
      const shown = ['-show_entries', 'stream=color_space,color_transfer,color_primaries', '-of', 'csv=p=0', into];
      const { stdout } = await run('ffprobe', ['-v', 'error', '-select_streams', 'v', ...shown]);
      expect(stdout.trim()).toBe('bt709,bt709,bt709');
    },
  );

  it.runIf(isNightly)('of interlaced frames has a poster and a watermark without combs', async () => {
    const file = join(folder, 'interlaced.mpg');
    // A bar that moves by 16 pixels from field to field.
    const bar =
      "color=black:size=320x180:rate=50:duration=1,geq=lum='255*between(X,mod(N*16,240),mod(N*16,240)+80)':cb=128:cr=128";
    await run('ffmpeg', [
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      `${bar},interlace`,
      '-c:v',
      'mpeg2video',
      '-flags',
      '+ildct+ilme',
      '-q:v',
      '1',
      file,
    ]);
    const facts = await probeVideo(ffmpeg, file);
    expect(facts.isInterlaced).toBe(true);
    const into = `${file}.wm.mp4`;
    await brandVideo(ffmpeg, brand, { file, facts }, { mark: join(folder, 'mark'), into }, signal);
    /** How much neighboring lines differ, compared with lines two apart. */
    const combsOf = async (frame: Sharp) => {
      const { data, info } = await frame.grayscale().raw().toBuffer({ resolveWithObject: true });
      let [near, far] = [0, 0];
      for (let at = 0; at + 2 * info.width < data.length; at++) {
        near += Math.abs(Number(data[at]) - Number(data[at + info.width]));
        far += Math.abs(Number(data[at]) - Number(data[at + 2 * info.width]));
      }
      return near / (far + 1);
    };
    const top = { left: 0, top: 0, width: 320, height: 120 };
    expect(await combsOf((await frameAt(file, 0.4)).extract(top))).toBeGreaterThan(3);
    expect(await combsOf((await frameAt(into, 0.4)).extract(top))).toBeLessThan(1.5);
    const poster = await takePoster(ffmpeg, { file, facts }, `${file}.jpg`, signal);
    expect(await combsOf(sharp(poster).extract(top))).toBeLessThan(1.5);
  });

  it('that is truncated is branded up to its end', async () => {
    const file = await render(samples[6] as (typeof samples)[number], folder);
    const cut = join(folder, 'cut.webm');
    const bytes = await readFile(file);
    await writeFile(cut, bytes.subarray(0, bytes.length / 2));
    const facts = await probeVideo(ffmpeg, cut);
    expect((await takePoster(ffmpeg, { file: cut, facts }, join(folder, 'cut.jpg'), signal)).length).toBeGreaterThan(
      1000,
    );
  });

  it('that cannot be decoded is rejected as undecodable', async () => {
    const file = join(folder, 'noise.mp4');
    await writeFile(file, Buffer.alloc(10_000, 'noise'));
    await expect(probeVideo(ffmpeg, file)).rejects.toMatchObject({
      name: VideoFault.name,
      reason: 'undecodable_video',
    });
  });
});
