/** The facts of a video file by ffprobe: upright size, duration, frame rate, codecs, sound. */
import { z } from 'zod';
import { type Ffmpeg, guardedInput, VideoFault } from './ffmpeg.ts';

export interface VideoFacts {
  /** Upright, with square pixels. */
  readonly width: number;
  readonly height: number;
  /** The longer of image and sound; `null`: unknown. */
  readonly durationMs: number | null;
  /** In ffmpeg's notation: `30000/1001`. */
  readonly frameRate: string;
  /** More than 60 frames per second. */
  readonly isFast: boolean;
  readonly hasSound: boolean;
  /** ffmpeg's names of the image's codec and pixel format; empty if they are unknown. */
  readonly codec: string;
  readonly pixelFormat: string;
  /** `undefined`: there is no sound. */
  readonly soundCodec: string | undefined;
  readonly isInterlaced: boolean;
  /** ffmpeg's name of the transfer function of an HDR image. `undefined`: SDR. */
  readonly hdrTransfer: string | undefined;
  /** The index of the image's stream in the file. Cover images do not count. */
  readonly stream: number;
}

/** A video in a scratch folder. */
export interface VideoFile {
  readonly file: string;
  readonly facts: VideoFacts;
}

/** Work that takes as long as a longer video has queues of its own. */
export const longVideoMs = 60_000;

/** The work takes too long for the queue of all videos. */
export class LongVideo extends Error {}

/** An unknown duration can be any. */
export const isLonger = ({ durationMs }: VideoFacts, longestMs: number) => (durationMs ?? Number.MAX_VALUE) > longestMs;

const probeTimeoutMs = 30_000;
const longestSide = 8192;
/** 8K. A frame of it is 50 MB decoded. */
const mostPixels = 7680 * 4320;

/** PQ and HLG. */
const hdrTransfers = ['smpte2084', 'arib-std-b67'] as const;

const seconds = z
  .string()
  .optional()
  .transform(Number)
  .transform((value) => (value > 0 ? value : undefined));

const probed = z.object({
  streams: z.array(
    z.object({
      index: z.int(),
      codec_type: z.string().optional(),
      codec_name: z.string().optional(),
      pix_fmt: z.string().optional(),
      field_order: z.string().optional(),
      color_transfer: z.string().optional(),
      width: z.number().optional(),
      height: z.number().optional(),
      sample_aspect_ratio: z.string().optional(),
      avg_frame_rate: z.string().optional(),
      r_frame_rate: z.string().optional(),
      duration: seconds,
      disposition: z.object({ attached_pic: z.number().optional() }).optional(),
      tags: z.object({ rotate: z.string().optional() }).optional(),
      side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
    }),
  ),
  format: z.object({ duration: seconds }).optional(),
});
type Stream = z.output<typeof probed>['streams'][number];

/** Throws `VideoFault` (no image, or one that is too large), and as `Ffmpeg.run`. */
export async function probeVideo(ffmpeg: Ffmpeg, file: string, signal?: AbortSignal): Promise<VideoFacts> {
  const args = [...guardedInput, '-show_streams', '-show_format', '-of', 'json', '-i', `file:${file}`];
  const printed = await ffmpeg.probe(args, { timeoutMs: probeTimeoutMs, ...(signal && { signal }) });
  const parsed = probed.safeParse(JSON.parse(printed || '{}'));
  if (!parsed.success) throw new VideoFault('undecodable_video', 'the output of ffprobe is not in the expected form');
  const { streams, format } = parsed.data;
  const image = streams.find(({ codec_type, disposition }) => codec_type === 'video' && !disposition?.attached_pic);
  const { width: codedWidth = 0, height: codedHeight = 0 } = image ?? {};
  if (image === undefined || codedWidth < 1 || codedHeight < 1)
    throw new VideoFault('undecodable_video', 'it has no video stream');
  if (Math.max(codedWidth, codedHeight) > longestSide || codedWidth * codedHeight > mostPixels)
    throw new VideoFault('video_too_large', `${codedWidth}x${codedHeight}`);
  // A stream with an unknown codec has a type too.
  const sound = streams.find(({ codec_type, codec_name }) => codec_type === 'audio' && codec_name !== undefined);
  const duration = format?.duration ?? image.duration;
  return {
    ...uprightSize(image, codedWidth, codedHeight),
    durationMs: duration === undefined ? null : Math.round(duration * 1000),
    frameRate: frameRateOf(image),
    isFast: (ratio(image.avg_frame_rate) ?? 0) > 60,
    hasSound: sound !== undefined,
    codec: image.codec_name ?? '',
    pixelFormat: image.pix_fmt ?? '',
    soundCodec: sound?.codec_name,
    isInterlaced: /^[tb][tb]$/.test(image.field_order ?? ''),
    hdrTransfer: hdrTransfers.find((transfer) => transfer === image.color_transfer),
    stream: image.index,
  };
}

function uprightSize(image: Stream, codedWidth: number, codedHeight: number) {
  const aspect = ratio(image.sample_aspect_ratio?.replace(':', '/'));
  const isSane = aspect !== undefined && aspect > 0.1 && aspect < 10;
  const width = Math.min(longestSide, Math.max(1, Math.round(codedWidth * (isSane ? aspect : 1))));
  const rotation = image.side_data_list?.find((data) => data.rotation !== undefined)?.rotation;
  const turns = Math.round((rotation ?? Number(image.tags?.rotate ?? 0)) / 90);
  return turns % 2 === 0 ? { width, height: codedHeight } : { width: codedHeight, height: width };
}

/** The average of a variable rate. Limited, because files can claim any rate (90,000 frames per second). */
function frameRateOf({ avg_frame_rate: average, r_frame_rate: stated }: Stream): string {
  for (const rate of [average, stated]) {
    const value = ratio(rate);
    if (value !== undefined && value >= 5 && value <= 60) return String(rate);
    if (value !== undefined && value > 60 && value <= 240) return '60';
  }
  return '30';
}

function ratio(text = ''): number | undefined {
  const [above, below] = text.split('/').map(Number);
  const value = Number(above) / Number(below);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}
