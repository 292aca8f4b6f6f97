import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyNth } from '../../../test/lane.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { createFfmpeg, VideoFault } from './ffmpeg.ts';
import { takePoster } from './poster.ts';
import { probeVideo } from './probing.ts';
import { removeAbandonedScratch } from './scratch.ts';

/** Never ends on its own. */
const endless = ['-f', 'lavfi', '-i', 'testsrc2=size=64x64:rate=25', '-f', 'null', '-'];
const { signal } = new AbortController();

async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return status !== '' && !/\) [ZX] /.test(status);
}

describe.skipIf(skipWithout('ffmpeg'))('ffmpeg', () => {
  const ffmpeg = createFfmpeg('ffmpeg');
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-ffmpeg-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is missing where it is not', async () => {
    const failing = createFfmpeg(join(folder, 'ffmpeg')).check();
    await expect(failing).rejects.toMatchObject({ code: 'ffmpeg_missing', status: 503 });
  });

  it('ends at its timeout, and when it is aborted', async () => {
    await expect(ffmpeg.run(endless, { timeoutMs: 300 })).rejects.toMatchObject({ name: 'DeadlineExceeded' });
    const controller = new AbortController();
    const running = ffmpeg.run(endless, { timeoutMs: 60_000, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('told')), 200);
    await expect(running).rejects.toThrow('told');
  });

  it.skipIf(process.platform !== 'linux')('writes no file beyond its bound', async () => {
    const into = join(folder, 'large');
    const args = ['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=25', '-f', 'rawvideo', `file:${into}`];
    const failing = ffmpeg.run(args, { timeoutMs: 30_000, maxOutputBytes: 2_000_000 });
    await expect(failing).rejects.toBeInstanceOf(Error);
    expect((await stat(into)).size).toBeLessThanOrEqual(2_000_000);
  });

  it.skipIf(process.platform !== 'linux')('ends with its parent process, even after SIGKILL', async () => {
    const program = `
      import { createFfmpeg } from '${join(import.meta.dirname, 'ffmpeg.ts')}';
      const ffmpeg = createFfmpeg('ffmpeg');
      await ffmpeg.check();
      void ffmpeg.run(${JSON.stringify(endless)}, { timeoutMs: 60_000 });
      console.log('running');`;
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    let children: number[] = [];
    while (children.length === 0) {
      const listed = await readFile(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8');
      for (const pid of listed.split(' ').filter(Boolean).map(Number))
        if ((await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim() === 'ffmpeg') children = [pid];
      await sleep(20);
    }
    parent.kill('SIGKILL');
    while (await isAlive(Number(children[0]))) await sleep(20);
  });

  describe('of hostile files', () => {
    const secret = () => join(folder, 'secret.txt');
    let asked: string[];
    let url: string;
    const server = createServer((request, response) => {
      asked.push(String(request.url));
      response.end();
    });
    beforeAll(async () => {
      asked = [];
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      await writeFile(secret(), 'a secret of the machine\n');
    });
    afterAll(() => server.close());

    const playlist = (line: string) => `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\n${line}\n#EXT-X-ENDLIST\n`;
    const header = (width: number, height: number) => {
      const bytes = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000080200000000000000', 'hex');
      bytes.writeUInt32BE(width, 16);
      bytes.writeUInt32BE(height, 20);
      return bytes;
    };
    const cases: readonly [string, () => string | Buffer][] = [
      ['a playlist of a file', () => playlist(`file://${secret()}`)],
      ['a playlist of an address', () => playlist(`${url}a.ts`)],
      ['a playlist of data', () => playlist('data:video/mp4;base64,AAAA')],
      ['a playlist of a concatenation', () => playlist(`concat:${secret()}|${secret()}`)],
      ['a list of files', () => `ffconcat version 1.0\nfile '${secret()}'\n`],
      [
        'a session description',
        () => `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n`,
      ],
      ['a manifest', () => `<?xml version="1.0"?><MPD><Period><BaseURL>${url}</BaseURL></Period></MPD>`],
      ['a drawing', () => `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}x.png"/></svg>`],
      ['a subtitle', () => `1\n00:00:00,000 --> 00:00:01,000\nhello\n`],
      ['an image', () => header(100, 100)],
      ['an image of many pixels', () => header(100_000, 100_000)],
      ['text', () => 'hello'],
      ['nothing', () => ''],
    ];
    it.each(cases)('%s is not a video, and opens no other file', async (_name, content) => {
      const file = join(folder, 'hostile.mp4');
      await writeFile(file, content());
      await expect(probeVideo(ffmpeg, file)).rejects.toBeInstanceOf(VideoFault);
      // Not even where a frame is wanted without a look before.
      const facts = {
        ...{ width: 100, height: 100, durationMs: 1000, frameRate: '25', isFast: false, hasSound: false, stream: 0 },
        ...{
          codec: 'h264',
          pixelFormat: 'yuv420p',
          soundCodec: undefined,
          isInterlaced: false,
          hdrTransfer: undefined,
        },
      };
      const taken = takePoster(ffmpeg, { file, facts }, join(folder, 'hostile.jpg'), signal);
      await expect(taken).rejects.toBeInstanceOf(VideoFault);
      expect(asked).toEqual([]);
    });

    it.each(
      everyNth(
        [
          [16_384, 16],
          [8192, 8192],
        ] as const,
        2,
      ),
    )('one of %d x %d pixels is too large', async (width, height) => {
      const file = join(folder, 'wide.mkv');
      const source = `color=black:s=${width}x${height}:r=1:d=1`;
      const args = ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, '-frames:v', '1', '-c:v', 'ffv1', file];
      // Without the limit of memory.
      await once(spawn('ffmpeg', args), 'close');
      await expect(probeVideo(ffmpeg, file)).rejects.toMatchObject({ reason: 'video_too_large' });
    });
  });

  it('ends at its limit of memory, as a fault of the video', async () => {
    const source = 'color=black:s=8192x4000:r=100:d=1';
    const work = ffmpeg.run(['-f', 'lavfi', '-i', source, '-vf', 'format=gbrpf32le,reverse', '-f', 'null', '-'], {
      timeoutMs: 60_000,
    });
    await expect(work).rejects.toMatchObject({ reason: 'video_too_large' });
  });

  it('removes files of a killed process at the next start', async () => {
    const ended = spawn('true');
    await once(ended, 'close');
    const [left, kept, foreign] = [`atelier-video-${ended.pid}-a`, `atelier-video-${process.pid}-a`, 'something-else'];
    // In a container the next process has the same pid.
    const before = `atelier-video-${process.pid}-b`;
    for (const name of [left, kept, foreign, before]) await mkdir(join(folder, 'scratch', name), { recursive: true });
    const longAgo = new Date(Date.now() - process.uptime() * 1000 - 60_000);
    await utimes(join(folder, 'scratch', before), longAgo, longAgo);
    await removeAbandonedScratch(join(folder, 'scratch'));
    expect((await readdir(join(folder, 'scratch'))).sort()).toEqual([kept, foreign].sort());
  });
});
