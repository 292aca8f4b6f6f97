/** Sample videos that browsers do not play as they are, and some that they do, for the tests. */
import type { Sample } from './videosamples.fixture.ts';

const image = 'testsrc2=size=160x90:rate=10:duration=1';
const sine = 'sine=duration=1';
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const hevc = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none', '-tag:v', 'hvc1'];
const vp9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-pix_fmt', 'yuv420p'];
const aac = ['-c:a', 'aac'];

export interface RenditionSample extends Sample {
  readonly mime: string;
  readonly isPlayable: boolean;
}

const base: RenditionSample = {
  name: '',
  extension: 'mp4',
  mime: 'video/mp4',
  inputs: [image, sine],
  options: [...h264, ...aac],
  width: 160,
  height: 90,
  seconds: 1,
  hasSound: true,
  isPlayable: false,
};

const hevcClip: RenditionSample = { ...base, name: 'HEVC in MP4', options: [...hevc, ...aac] };

/** Needs a rendition, and is quickly made. */
export const matroskaClip: RenditionSample = {
  ...base,
  name: 'H.264 in Matroska',
  extension: 'mkv',
  mime: 'video/x-matroska',
};

export const renditionSamples: readonly RenditionSample[] = [
  { ...base, name: 'H.264 in MP4', isPlayable: true },
  { ...base, name: 'silent H.264 in MP4', inputs: [image], hasSound: false, isPlayable: true },
  {
    ...{ ...base, name: 'VP9 in WebM', extension: 'webm', mime: 'video/webm', isPlayable: true },
    options: [...vp9, '-c:a', 'libopus'],
  },
  { ...base, name: 'VP9 in MP4', options: [...vp9, ...aac], isPlayable: true },
  { ...base, name: 'AV1 in MP4', options: ['-c:v', 'libsvtav1', '-preset', '12', ...aac], isPlayable: true },
  hevcClip,
  { ...base, name: 'H.264 in QuickTime', extension: 'mov', mime: 'video/quicktime' },
  { ...base, name: 'H.264 in QuickTime that is called MP4', extension: 'mov' },
  matroskaClip,
  {
    ...{ ...base, name: 'VP8 in WebM', extension: 'webm', mime: 'video/webm' },
    options: ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libvorbis'],
  },
  {
    ...{ ...base, name: 'ProRes', extension: 'mov', mime: 'video/quicktime' },
    options: ['-c:v', 'prores_ks', '-c:a', 'pcm_s16le'],
  },
  {
    ...{ ...base, name: 'MPEG-2', extension: 'mpg', mime: 'video/mpeg' },
    inputs: ['testsrc2=size=160x90:rate=25:duration=1', sine],
    options: ['-c:v', 'mpeg2video', '-c:a', 'mp2'],
  },
  {
    ...{ ...base, name: 'MJPEG in AVI', extension: 'avi', mime: 'video/x-msvideo' },
    options: ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj422p', '-c:a', 'pcm_s16le'],
  },
  { ...base, name: 'H.264 with ten bits', options: ['-c:v', 'libx264', '-pix_fmt', 'yuv420p10le', ...aac] },
  {
    ...{ ...base, name: 'odd sides', width: 161, height: 91 },
    inputs: ['testsrc=size=161x91:rate=10:duration=1', sine],
    options: ['-c:v', 'libx264', '-pix_fmt', 'yuv444p', ...aac],
  },
  { ...base, name: 'silent HEVC', inputs: [image], options: hevc, hasSound: false },
  {
    ...{ ...base, name: 'sound in six channels', extension: 'mkv', mime: 'video/x-matroska' },
    inputs: [image, `${sine},aformat=channel_layouts=5.1`],
    options: [...h264, '-c:a', 'ac3'],
  },
  {
    ...{ ...base, name: 'HDR', width: 160, height: 90 },
    options: [
      ...hevc,
      ...['-pix_fmt', 'yuv420p10le', '-color_primaries', 'bt2020', '-color_trc', 'smpte2084'],
      ...['-colorspace', 'bt2020nc', ...aac],
    ],
  },
  {
    ...{ ...base, name: 'a variable frame rate', extension: 'mov', mime: 'video/quicktime' },
    inputs: [`${image},select='not(mod(n\\,3))+lt(n\\,5)'`, sine],
    options: [...h264, '-fps_mode', 'vfr', ...aac],
  },
  {
    ...{ ...base, name: 'interlaced frames', extension: 'mov', mime: 'video/quicktime' },
    inputs: ['testsrc2=size=160x96:rate=50:duration=1,interlace', sine],
    options: ['-c:v', 'mpeg4', '-flags', '+ildct+ilme', '-c:a', 'aac'],
    height: 96,
  },
  {
    ...{ ...base, name: 'turned by its metadata', extension: 'mov', mime: 'video/quicktime', width: 90, height: 160 },
  },
  {
    ...{ ...base, name: 'larger than 1080p', extension: 'mov', mime: 'video/quicktime', width: 1600, height: 1200 },
    inputs: ['testsrc2=size=1600x1200:rate=5:duration=0.4', 'sine=duration=0.4'],
    seconds: 0.4,
  },
];
