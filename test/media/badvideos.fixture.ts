/** Files that say they are videos and are none that can be shown, for the tests. */
import { readFile } from 'node:fs/promises';
import { render, type Sample } from './videosamples.fixture.ts';

type Make = (folder: string) => Promise<Uint8Array>;

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];
const small: Sample = {
  name: 'good as yet',
  extension: 'mp4',
  inputs: ['testsrc2=size=64x64:rate=10:duration=1,format=yuv420p', 'sine=duration=1'],
  options: h264,
  ...{ width: 64, height: 64, seconds: 1, hasSound: true },
};
const rendered = async (folder: string, changes: Partial<Sample> = {}) =>
  readFile(await render({ ...small, ...changes }, folder));
const text = (lines: string): Make => {
  return async () => Buffer.from(lines);
};

/** What each of them is answered with is the same: it cannot be decoded. */
export const badVideos: readonly (readonly [name: string, make: Make])[] = [
  ['nothing', text('')],
  ['noise', async () => Buffer.alloc(5000, 'noise')],
  ['sound alone', (folder) => rendered(folder, { inputs: ['sine=duration=1'], options: ['-c:a', 'aac'] })],
  [
    'a video cut off before its index',
    async (folder) => {
      const bytes = await rendered(folder);
      return bytes.subarray(0, bytes.length / 2);
    },
  ],
  [
    'an index that tells of no frame',
    async (folder) => {
      const bytes = await rendered(folder, { options: [...h264, '-movflags', 'frag_keyframe+empty_moov'] });
      return bytes.subarray(0, bytes.indexOf('moof') - 4);
    },
  ],
  [
    'frames of zeros',
    async (folder) => {
      const bytes = await rendered(folder);
      return bytes.fill(0, bytes.indexOf('mdat') + 4, bytes.indexOf('moov') - 4);
    },
  ],
  [
    'an image',
    (folder) => rendered(folder, { extension: 'png', inputs: [small.inputs[0] ?? ''], options: ['-frames:v', '1'] }),
  ],
  ['a playlist', text('#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n')],
  ['a list of files', text("ffconcat version 1.0\nfile '/etc/passwd'\n")],
  ['a manifest', text('<?xml version="1.0"?><MPD><Period><BaseURL>http://127.0.0.1/</BaseURL></Period></MPD>')],
  [
    'a drawing',
    text('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><image href="/etc/passwd"/></svg>'),
  ],
];

/** Two frames, three hours from one another. */
export const longVideo: Sample = {
  ...small,
  inputs: ['testsrc2=size=64x64:rate=1:duration=2,format=yuv420p,setpts=N*11000/TB'],
  options: [...h264, '-fps_mode', 'vfr'],
  seconds: 11_001,
  hasSound: false,
};
