import { choice, integer, list, parseAddress, setting, text, type Values } from '#platform/config.ts';
import { strippings } from './metadata/publicity.ts';
import { parseRules, type Rule } from './screening/labels.ts';

const MiB = 1024 * 1024;

/** docs/specification/media.md. */
export const mediaSettings = {
  publicScopes: list('MEDIA_PUBLIC_SCOPES', { default: ['feed', 'avatars'] }),
  maxImageBytes: integer('MEDIA_MAX_IMAGE_BYTES', { default: 64 * MiB, min: 1 }),
  maxVideoBytes: integer('MEDIA_MAX_VIDEO_BYTES', { default: 2048 * MiB, min: 1 }),
  /** For all assets and unregistered uploads of one owner; 0: no limit. */
  maxOwnerBytes: integer('MEDIA_MAX_BYTES_PER_OWNER', { default: 0, min: 0 }),
  /** After which an upload that received nothing and was not registered is removed. */
  uploadTtlS: integer('MEDIA_UPLOAD_TTL_SECS', { default: 3600, min: 1, max: 604_800 }),
  stripMetadata: choice('MEDIA_STRIP_METADATA', strippings, { default: 'public' }),
  c2paCertificate: text('C2PA_CERTIFICATE'),
  c2paPrivateKey: text('C2PA_PRIVATE_KEY', { secret: true }),
  ffmpegPath: text('FFMPEG_PATH', { default: 'ffmpeg' }),
  blockedHashes: text('MEDIA_BLOCKED_HASHES'),
  screeningUrl: setting('MEDIA_SCREENING_URL', parseClassifierAddress, { secret: true }),
  screeningRules: setting<readonly Rule[]>('MEDIA_SCREENING_RULES', parseRules, { default: [] }),
  quarantineKey: setting('MEDIA_QUARANTINE_KEY', parseKey, { secret: true }),
  quarantineDays: integer('MEDIA_QUARANTINE_DAYS', { default: 365, min: 1, max: 36_500 }),
} as const;

export type MediaSettings = Values<typeof mediaSettings>;

function parseKey(raw: string): string {
  const bytes = Buffer.from(raw, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== raw) throw new Error('must be 32 bytes in base64');
  return raw;
}

/** Used unchanged: a trailing slash or a query may have a meaning to the server. */
function parseClassifierAddress(raw: string): string {
  parseAddress(raw);
  return raw;
}
