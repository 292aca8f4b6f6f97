/** Uses signed URLs of the object store as a page in a browser does, because a proxy can treat services and browsers differently. */
import { randomUUID } from 'node:crypto';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { reasonOf, Warning } from './probing.ts';

const expiresInS = 60;
const timeoutMs = 5000;
const bytes = Buffer.from('doctor');

/** Writes a small object, reads it, and removes it. `pattern`: an origin that may call the services. */
export async function assertOpenToBrowsers(originals: Objects, pattern = 'http://localhost:3000'): Promise<void> {
  const key = `doctor/${randomUUID()}`;
  const origin = pattern.replace('*', 'app');
  const { url, headers } = originals.writeAddress(key, {
    expiresInS,
    contentType: 'text/plain',
    maxSize: bytes.length,
  });
  try {
    const put = await call('PUT', url, { ...headers, origin }, bytes);
    const get = await call('GET', originals.readAddress(key, { expiresInS }), { origin });
    if (!get.body.equals(bytes)) throw new Error(`a signed GET at ${get.place} returns another object; ${advice}`);
    const allowed = put.headers.get('access-control-allow-origin');
    if (allowed !== '*' && allowed !== origin)
      throw new Warning(
        `pages of ${origin} cannot upload to ${put.place}; docs/objects.md has the CORS rule for the bucket ${originals.bucket}`,
      );
  } finally {
    await originals.remove([key]);
  }
}

const advice = 'check S3_ENDPOINT, S3_BUCKET, and the rules of the proxy in front of it (docs/objects.md)';

async function call(method: 'GET' | 'PUT', url: string, headers: Readonly<Record<string, string>>, body?: Buffer) {
  const place = new URL(url).origin;
  const init = { method, headers, body: body ? new Uint8Array(body) : null, redirect: 'manual' } as const;
  const response = await outgoingFetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) }).catch(
    (error: Error) => {
      throw new Error(`a signed ${method} at ${place} fails (${reasonOf(error)}); ${advice}`);
    },
  );
  const received = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200)
    throw new Error(`a browser's signed ${method} at ${place} returns ${response.status}; ${advice}`);
  return { place, headers: response.headers, body: received };
}
