import { integer, list, parseAddress, setting, text } from '#platform/config.ts';

import { type Stripping, strippings } from './metadata/publicity.ts';
import { parseRules, type Rule } from './screening/labels.ts';

const MiB = 1024 * 1024;

/** docs/specification/media.md. */
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
    meaning: 'Largest video or other file that is not an image, in bytes.',
  }),
  maxOwnerBytes: integer('MEDIA_MAX_BYTES_PER_OWNER', {
    default: 0,
    min: 0,
    meaning: 'Total bytes of all assets and unregistered uploads of one owner; 0: no limit.',
  }),
  uploadTtlS: integer('MEDIA_UPLOAD_TTL_SECS', {
    default: 3600,
    min: 1,
    max: 604_800,
    meaning: 'Seconds after which an upload that was not registered is removed, from its reservation or its last byte.',
  }),
  stripMetadata: setting<Stripping>(
    'MEDIA_STRIP_METADATA',
    {
      default: 'public',
      meaning:
        'Whose files lose EXIF, XMP and other metadata: `public` (those that other people get), `all` (each file, when it is registered) or `none`. The orientation, the color profile and the mark of generated media stay.',
    },
    parseStripping,
  ),
  c2paCertificate: text('C2PA_CERTIFICATE', {
    meaning:
      'The PEM file of the certificate that signs the originals of generations, and of those above it, or its content. Not set: content credentials are not written.',
  }),
  c2paPrivateKey: text('C2PA_PRIVATE_KEY', {
    secret: true,
    meaning: 'The PEM file of its private key (P-256, P-384 or Ed25519), or its content.',
  }),
  ffmpegPath: text('FFMPEG_PATH', {
    default: 'ffmpeg',
    meaning: 'The ffmpeg program, for video tasks and watermarks. ffprobe must be next to it.',
  }),
  blockedHashes: text('MEDIA_BLOCKED_HASHES', {
    meaning:
      'The folder of `sha256.txt`, `md5.txt` and `pdq.txt`: digests of prohibited images, one per line in hex. Changes are read automatically.',
  }),
  screeningUrl: setting(
    'MEDIA_SCREENING_URL',
    {
      secret: true,
      meaning: 'The URL of a classifier that receives every image by POST before the image becomes readable.',
    },
    parseClassifierAddress,
  ),
  screeningRules: setting<readonly Rule[]>(
    'MEDIA_SCREENING_RULES',
    {
      default: [],
      defaultText: '`[]`',
      meaning:
        'The rules about labels of the classifier, as JSON: `[{ "label": "nudity", "minScore": 0.8, "action": "block" }]`. A rule applies from `minScore` (0 to 1). Actions: `block`, `restrict` (only the owner reads it) and `flag`; the last two add an incident.',
    },
    parseRules,
  ),
  quarantineKey: setting(
    'MEDIA_QUARANTINE_KEY',
    {
      secret: true,
      meaning:
        'The key that encrypts blocked objects, which are retained as evidence: 32 bytes in base64 (`openssl rand -base64 32`). If it is not set, blocked objects are deleted.',
    },
    parseKey,
  ),
  quarantineDays: integer('MEDIA_QUARANTINE_DAYS', {
    default: 365,
    min: 1,
    max: 36_500,
    meaning: 'Days after which a retained blocked object is deleted.',
  }),
} as const;

function parseKey(raw: string): string {
  const bytes = Buffer.from(raw, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== raw) throw new Error('must be 32 bytes in base64');
  return raw;
}

function parseStripping(raw: string): Stripping {
  const found = strippings.find((each) => each === raw);
  if (found === undefined) throw new Error(`must be one of ${strippings.join(', ')}`);
  return found;
}

/** Used unchanged: a trailing slash or a query may have a meaning to the server. */
function parseClassifierAddress(raw: string): string {
  parseAddress(raw);
  return raw;
}
