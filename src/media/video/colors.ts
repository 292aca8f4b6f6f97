/** Frames as every screen shows them: progressive, and in SDR. */
import { VideoFault } from './ffmpeg.ts';
import type { VideoFacts } from './probing.ts';

/** Filters for interlaced frames. They precede any scaling. */
export const deinterlacing = ({ isInterlaced }: Pick<VideoFacts, 'isInterlaced'>): readonly string[] =>
  isInterlaced ? ['yadif=deint=interlaced'] : [];

/** The filters from HDR to SDR, which follow the scaling, and the tags of the encoded video. */
export interface Colors {
  readonly filters: readonly string[];
  readonly tags: readonly string[];
}

const unchanged: Colors = { filters: [], tags: [] };

/** ffmpeg can be built without the filters for HDR. The colors are then too pale, but the video plays. */
export async function withSdrColors<Result>(
  { hdrTransfer }: Pick<VideoFacts, 'hdrTransfer'>,
  size: Pick<VideoFacts, 'width' | 'height'>,
  work: (colors: Colors) => Promise<Result>,
): Promise<Result> {
  if (hdrTransfer === undefined) return work(unchanged);
  const mapping = toneMapping(hdrTransfer);
  try {
    return await work({ filters: mapping, tags: sdrTags });
  } catch (error) {
    if (!(error instanceof VideoFault)) throw error;
    if (error.reason === 'undecodable_video') return work(unchanged);
    // Its frames have three times the bytes of others. With the many references of some 4K files they exceed the limit.
    const smaller = ['scale=trunc(iw/3)*2:trunc(ih/3)*2', ...mapping, `scale=${size.width}:${size.height}`];
    return work({ filters: smaller, tags: sdrTags });
  }
}

/** From a transfer function of HDR to BT.709. */
function toneMapping(transfer: string): readonly string[] {
  return [
    `zscale=tin=${transfer}:min=bt2020nc:pin=bt2020:rin=tv:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    'tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=tv',
    'format=yuv420p',
  ];
}

const sdrTags = [
  ...['-color_primaries', 'bt709', '-color_trc', 'bt709'],
  ...['-colorspace', 'bt709', '-color_range', 'tv'],
] as const;
