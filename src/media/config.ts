import { integer, list, text } from '#platform/config.ts';

const MiB = 1024 * 1024;

/** CONTRACT §§2 and 4. */
export const mediaSettings = {
  publicScopes: list('MEDIA_PUBLIC_SCOPES', {
    default: ['feed', 'avatars'],
    meaning: 'Scope kinds whose assets any signed-in user may read.',
  }),
  maxImageBytes: integer('MEDIA_MAX_IMAGE_BYTES', {
    default: 64 * MiB,
    min: 1,
    defaultText: '64 MiB',
    meaning: 'Largest image, in bytes.',
  }),
  maxVideoBytes: integer('MEDIA_MAX_VIDEO_BYTES', {
    default: 2048 * MiB,
    min: 1,
    defaultText: '2 GiB',
    meaning: 'Largest video, and anything else that is no image, in bytes.',
  }),
  ffmpegPath: text('FFMPEG_PATH', {
    default: 'ffmpeg',
    meaning: 'The ffmpeg program, for video tasks and watermarks; ffprobe lies beside it.',
  }),
} as const;
