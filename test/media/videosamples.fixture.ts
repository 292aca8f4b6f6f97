/** Sample videos of every awkward kind, rendered by ffmpeg itself, for the tests. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

const image = (size = '320x180', seconds = 2, rate = 25) =>
  `testsrc2=size=${size}:rate=${rate}:duration=${seconds},format=yuv420p`;
const tone = (seconds: number, channels = 2) =>
  `sine=frequency=440:duration=${seconds},aformat=channel_layouts=${channels === 1 ? 'mono' : 'stereo'}`;
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast'];

export interface Sample {
  readonly name: string;
  readonly extension: string;
  readonly inputs: readonly string[];
  readonly options: readonly string[];
  /** Upright, as players show it. */
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly hasSound: boolean;
}

const base = {
  extension: 'mp4',
  options: [...h264, '-c:a', 'aac'],
  width: 320,
  height: 180,
  seconds: 2,
  hasSound: true,
};

export const samples: readonly Sample[] = [
  { ...base, name: 'with sound', inputs: [image(), tone(2)] },
  { ...base, name: 'silent', inputs: [image()], hasSound: false },
  { ...base, name: 'mono', inputs: [image(), tone(2, 1)] },
  {
    ...base,
    name: 'of odd sides',
    inputs: ['testsrc=size=321x181:rate=25:duration=2,format=yuv444p', tone(2)],
    options: [...h264, '-pix_fmt', 'yuv444p', '-c:a', 'aac'],
    width: 321,
    height: 181,
  },
  { ...base, name: 'turned by its metadata', inputs: [image(), tone(2)], width: 180, height: 320 },
  {
    ...base,
    name: 'of variable frame rate',
    inputs: [`${image()},select='not(mod(n\\,3))+lt(n\\,20)'`, tone(2)],
    options: [...h264, '-fps_mode', 'vfr', '-c:a', 'aac'],
  },
  {
    ...base,
    name: 'VP9 and Opus',
    extension: 'webm',
    inputs: [image(), tone(2)],
    options: ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-c:a', 'libopus'],
  },
  {
    ...base,
    name: 'HEVC, ten bits',
    inputs: [image(), tone(2)],
    options: [
      '-c:v',
      'libx265',
      '-preset',
      'ultrafast',
      '-pix_fmt',
      'yuv420p10le',
      '-x265-params',
      'log-level=none',
      '-tag:v',
      'hvc1',
      '-c:a',
      'aac',
    ],
  },
  { ...base, name: 'of one frame', inputs: [image('320x180', 0.04)], seconds: 0.04, hasSound: false },
  { ...base, name: 'of sound longer than its image', inputs: [image('320x180', 1), tone(3)], seconds: 3 },
  { ...base, name: 'of an image longer than its sound', inputs: [image('320x180', 3), tone(1)], seconds: 3 },
  { ...base, name: 'tall and narrow', inputs: [image('90x400'), tone(2)], width: 90, height: 400 },
  { ...base, name: 'of sides that are not square pixels', inputs: [`${image()},setsar=2`, tone(2)], width: 640 },
  { ...base, name: 'in QuickTime’s container', extension: 'mov', inputs: [image(), tone(2)] },
  {
    ...base,
    name: 'larger than Full HD',
    inputs: [image('2560x1440', 0.4), tone(0.4)],
    width: 2560,
    height: 1440,
    seconds: 0.4,
  },
];

/** The path of the file. */
export async function render(sample: Sample, folder: string): Promise<string> {
  const file = `${folder}/${samples.indexOf(sample)}.${sample.extension}`;
  const inputs = sample.inputs.flatMap((source) => ['-f', 'lavfi', '-i', source]);
  await run('ffmpeg', ['-v', 'error', '-y', ...inputs, ...sample.options, file]);
  if (!sample.name.startsWith('turned')) return file;
  const turned = `${folder}/turned.mp4`;
  await run('ffmpeg', ['-v', 'error', '-y', '-i', file, '-c', 'copy', '-metadata:s:v', 'rotate=90', turned]);
  return turned;
}
