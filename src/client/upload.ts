/** An upload: a place is reserved, the bytes go to the store, the asset is registered. What is done is not done again. */
import type { CallOptions } from './calling.ts';
import { AtelierError } from './errors.ts';
import type { Asset, RegistrationRequest, UploadReservation } from './media/api.ts';
import type { MediaCalls } from './media/calls.ts';
import { createPauses, type Patience } from './pausing.ts';
import { putBytes, type UploadProgress } from './putting.ts';

/** What the asset is to be. `mime`: the blob's own when it is left out. */
export type UploadDetails = Omit<RegistrationRequest, 'assetId' | 'mime' | 'byteSize'> & {
  /** The media service's choice when it is left out. */
  readonly assetId?: string | undefined;
  readonly mime?: string | undefined;
};

export interface UploadOptions extends Pick<CallOptions, 'signal'> {
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
}

export interface Upload {
  /**
   * To the end, over a network that fails. When it is given up, or `signal` ends it, another call goes on with the step
   * that was not done. Throws `AtelierError` and the signal's reason. Not to be called while it runs.
   */
  run(options?: UploadOptions): Promise<Asset>;
}

/** Of the bytes; the calls have their own. */
export interface UploadAccess {
  readonly patience?: Partial<Patience> | undefined;
  /** Without it browsers send them with XMLHttpRequest, which tells how far it is. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const triesOfBytes = 5;

/** In Node, `fs.openAsBlob` gives the bytes of a file. */
export function createUpload(
  media: Pick<MediaCalls, 'reserveUpload' | 'registerAsset'>,
  bytes: Blob,
  { assetId: wantedId, mime = bytes.type || 'application/octet-stream', ...details }: UploadDetails,
  access: UploadAccess = {},
): Upload {
  const { scopeKind, scopeId, kind, ownerId } = details;
  let assetId = wantedId;
  let reserved: UploadReservation | undefined;
  let isStored = false;

  async function reserve(signal: AbortSignal | undefined): Promise<UploadReservation> {
    // Under the same id as before: should the bytes have arrived after all, they are met.
    const place = { scopeKind, scopeId, kind, mime, ownerId, assetId, byteSize: bytes.size };
    reserved = await media.reserveUpload(place, { signal });
    assetId = reserved.assetId;
    return reserved;
  }

  async function store({ signal, onProgress }: UploadOptions): Promise<void> {
    const pauses = createPauses({ tries: triesOfBytes, ...access.patience }, signal);
    let isNew = false;
    while (!isStored) {
      isNew ||= reserved === undefined;
      const target = reserved ?? (await reserve(signal));
      try {
        await putBytes(target, bytes, { ...access, signal, onProgress });
        isStored = true;
      } catch (error) {
        signal?.throwIfAborted();
        const status = error instanceof AtelierError ? error.status : 0;
        isStored = status === 412;
        // An address from a run before has run out: there is to be a new one, once.
        if (status === 403 && !isNew) reserved = undefined;
        else if (!isStored) await pauses.pause(error);
      }
    }
  }

  return {
    async run(options = {}) {
      await store(options);
      if (assetId === undefined) throw new Error('what is stored has an id');
      return media.registerAsset({ ...details, mime, assetId }, { signal: options.signal });
    },
  };
}
