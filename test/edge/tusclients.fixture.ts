/** Clients of others that speak tus, as applications use them. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import * as tus from 'tus-js-client';
import type { Objects } from '#platform/objects/objects.ts';

/** A cut connection is retried at once. A restart of the edge takes seconds on a busy machine. */
const retryDelays = [0, 50, 100, 200, 500, ...Array.from({ length: 30 }, () => 1000)];

/** `chunkSize` in bytes. Default: one request for the rest of the file. */
export function uploadFile(path: string, uploadUrl: string, options: tus.UploadOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(createReadStream(path), {
      uploadUrl,
      retryDelays,
      onError: reject,
      onSuccess: () => resolve(),
      ...options,
    });
    upload.start();
  });
}

/** The part of Uppy's interface that is used: its own types need those of a browser. */
interface UppyModule {
  readonly default: new () => {
    use(plugin: object, options: object): void;
    addFile(file: { readonly name: string; readonly type: string; readonly data: object }): string;
    setFileState(id: string, state: object): void;
    upload(): Promise<{ readonly failed?: readonly { readonly error: string | null }[] } | undefined>;
    destroy(): void;
  };
}
interface UppyPlugin {
  readonly default: object;
}

const uppyPackages = { core: '@uppy/core', tus: '@uppy/tus' };

export async function uploadByUppy(bytes: Buffer, uploadUrl: string): Promise<void> {
  const { default: Uppy }: UppyModule = await import(uppyPackages.core);
  const { default: Tus }: UppyPlugin = await import(uppyPackages.tus);
  const uppy = new Uppy();
  uppy.use(Tus, { retryDelays });
  // In Node, the client inside Uppy reads buffers and no blobs.
  const data = Object.assign(bytes, { size: bytes.length });
  const id = uppy.addFile({ name: 'video.mp4', type: 'video/mp4', data });
  uppy.setFileState(id, { tus: { uploadUrl } });
  const result = await uppy.upload();
  uppy.destroy();
  if (result?.failed?.length !== 0) throw new Error(`Uppy failed: ${result?.failed?.[0]?.error}`);
}

/** Writes random bytes, piece by piece, and returns their SHA-256. */
export async function writeRandom(path: string, size: number): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'w');
  const pieceBytes = 1024 ** 2;
  for (let at = 0; at < size; at += pieceBytes) {
    const piece = randomBytes(Math.min(pieceBytes, size - at));
    hash.update(piece);
    await file.write(piece);
  }
  await file.close();
  return hash.digest('hex');
}

/** `undefined`: there is no object. */
export async function digestOf(objects: Objects, key: string): Promise<string | undefined> {
  const body = await objects.get(key);
  if (body === undefined) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of body.stream) hash.update(chunk);
  return hash.digest('hex');
}
