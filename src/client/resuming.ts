/** Resumable uploads by tus 1.0.0: the server reports how many bytes it has, and receives the rest. */
import { AtelierError, errorOf, toAtelierError } from './errors.ts';
import { patienceOf } from './pausing.ts';
import { type Sending, sendBytes } from './putting.ts';

const version = { 'Tus-Resumable': '1.0.0' };

/** Makes one attempt. `onOffset` is called with the bytes that the server has. Throws as `sendBytes`. */
export async function resumeBytes(
  url: string,
  bytes: Blob,
  options: Sending & { readonly onOffset: (offset: number) => void },
): Promise<void> {
  const offset = await readOffset(url, options);
  options.onOffset(offset);
  if (offset === bytes.size) return;
  const headers = {
    ...version,
    'Upload-Offset': String(offset),
    'Content-Type': 'application/offset+octet-stream',
  };
  await sendBytes({ method: 'PATCH', url, headers }, bytes, offset, options);
}

async function readOffset(url: string, { fetch = globalThis.fetch, signal, patience }: Sending): Promise<number> {
  const deadline = AbortSignal.timeout(patienceOf(patience).silentMs);
  const limited = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  const response = await fetch(url, { method: 'HEAD', headers: version, signal: limited }).catch((error: unknown) => {
    throw toAtelierError(error);
  });
  // A response to HEAD has no body to name the error.
  if (response.status === 409)
    throw new AtelierError('upload_in_progress', 'An earlier request is still being stored.', { status: 409 });
  if (!response.ok) throw await errorOf(response);
  return Number(response.headers.get('upload-offset'));
}
