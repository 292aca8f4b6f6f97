/** An upload: the client reserves an asset id, sends the bytes to the store and registers the asset. Completed steps are not repeated. */
import type { CallOptions } from './calling.ts';
import { AtelierError, errorOf, toAtelierError } from './errors.ts';
import type { Asset, RegistrationRequest, UploadReservation } from './media/api.ts';
import type { MediaCalls } from './media/calls.ts';
import { createPauses, type Patience, type Pauses, patienceOf } from './pausing.ts';
import { putBytes, type Sending, sendBytes, type UploadProgress } from './putting.ts';

/** The properties of the asset. `mime`: default is the blob's type. */
export type UploadDetails = Omit<RegistrationRequest, 'assetId' | 'mime' | 'byteSize'> & {
  /** Default: chosen by the media service. */
  readonly assetId?: string | undefined;
  readonly mime?: string | undefined;
  /** Continues after a broken connection where it broke, for a day. For large files. Default: one PUT. */
  readonly resumable?: boolean | undefined;
};

export interface UploadOptions extends Pick<CallOptions, 'signal'> {
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
}

export interface Upload {
  /**
   * Completes the upload over an unreliable network. After a failure or an abort by `signal`, another call continues with the first
   * incomplete step. Throws `AtelierError` and the signal's reason. Do not call it while it runs.
   */
  run(options?: UploadOptions): Promise<Asset>;
}

/** Options for sending the bytes. The calls have their own. */
export interface UploadAccess {
  readonly patience?: Partial<Patience> | undefined;
  /** Without it, browsers use XMLHttpRequest, which reports progress. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const triesOfBytes = 5;

/** In Node, `fs.openAsBlob` returns the bytes of a file. */
export function createUpload(
  media: Pick<MediaCalls, 'reserveUpload' | 'registerAsset'>,
  bytes: Blob,
  { assetId: wantedId, mime = bytes.type || 'application/octet-stream', resumable, ...details }: UploadDetails,
  access: UploadAccess = {},
): Upload {
  const { scopeKind, scopeId, kind, ownerId } = details;
  let assetId = wantedId;
  let reserved: UploadReservation | undefined;
  let isStored = false;
  let arrived = 0;

  async function reserve(signal: AbortSignal | undefined): Promise<UploadReservation> {
    // Uses the same id as before, in case the bytes did arrive.
    const byteSize = bytes.size;
    const place = { scopeKind, scopeId, kind, mime, ownerId, assetId, byteSize, resumable: resumable && byteSize > 0 };
    reserved = await media.reserveUpload(place, { signal });
    assetId = reserved.assetId;
    return reserved;
  }

  /** The bytes of a resumable upload that arrived count as progress. */
  function send(target: UploadReservation, sending: Sending, pauses: Pauses): Promise<void> {
    if (target.resumable === undefined) return putBytes(target, bytes, sending);
    const onOffset = (offset: number) => {
      if (offset > arrived) pauses.reset();
      arrived = offset;
    };
    return resumeBytes(target.resumable.url, bytes, { ...sending, onOffset });
  }

  async function store({ signal, onProgress }: UploadOptions): Promise<void> {
    const pauses = createPauses({ tries: triesOfBytes, ...access.patience }, signal);
    let isNew = false;
    while (!isStored) {
      isNew ||= reserved === undefined;
      const target = reserved ?? (await reserve(signal));
      try {
        await send(target, { ...access, signal, onProgress }, pauses);
        isStored = true;
      } catch (error) {
        signal?.throwIfAborted();
        const status = error instanceof AtelierError ? error.status : 0;
        isStored = status === 412;
        // The URL of an earlier run has expired, so request a new one, once.
        if ([403, 404, 410].includes(status) && !isNew) reserved = undefined;
        else if (!isStored) await pauses.pause(error);
      }
    }
  }

  return {
    async run(options = {}) {
      await store(options);
      if (assetId === undefined) throw new Error('a stored object has an id');
      return media.registerAsset({ ...details, mime, assetId }, { signal: options.signal });
    },
  };
}

// Resumable uploads by tus 1.0.0: the server reports how many bytes it has, and receives the rest.

const version = { 'Tus-Resumable': '1.0.0' };

/** Makes one attempt. `onOffset` is called with the bytes that the server has. Throws as `sendBytes`. */
async function resumeBytes(
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
