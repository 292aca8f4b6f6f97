/** The origins and signing keys of URLs. A process sends cached URLs only if its own would be equal. */
import { createHash } from 'node:crypto';
import type { ResizeSigner } from '#edge/api.ts';
import type { Objects } from '#platform/objects/objects.ts';

const sample = 'sample';
/** Raise this when responses get another field. */
const form = '3';

/** Equal for equal settings in every process. Reveals nothing about the keys. */
export function addressingOf(
  originals: Pick<Objects, 'bucket' | 'readAddress'>,
  resizeAddress: ResizeSigner,
  brandId: string,
): string {
  // A type that is served as an attachment, so that URLs from before that rule are misses too.
  const original = new URL(originals.readAddress(sample, { expiresInS: 60, contentType: 'text/html' }));
  // S3: the access key, without the day. The edge's key is derived from the one that signs the resize URL.
  const signer = original.searchParams.get('X-Amz-Credential')?.split('/', 1)[0] ?? '';
  const resized = resizeAddress({ bucket: originals.bucket, key: sample }, { width: 1, height: 1 }, 'webp');
  const disposition = original.searchParams.get('response-content-disposition') ?? '';
  const parts = [original.origin + original.pathname, signer, originals.bucket, disposition, resized, brandId, form];
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 16);
}
