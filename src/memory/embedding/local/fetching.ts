/** Downloads a model from a hub such as huggingface.co. A download that was stopped continues where it ended. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { StartFault } from '#platform/lifecycle.ts';
import { type IdleDeadline, startIdleDeadline } from '#platform/resilience.ts';
import { outgoingFetch } from '#platform/version.ts';
import { folderOf, type Manifest, manifestOf, networkFiles, readManifest, tokenizerFile } from './models.ts';

export interface FetchingOptions {
  readonly model: string;
  readonly dataDir: string;
  /** For example `https://huggingface.co`. */
  readonly hub: string;
  /** Called once, when the size is known. Returns a function that gets the bytes as they are written. */
  readonly onStart: (totalBytes: number) => (bytes: number) => void;
  /** Aborts if nothing arrives for this time. */
  readonly stallMs?: number;
}

interface HubFile {
  readonly path: string;
  readonly size: number;
  readonly digest: Digest;
}

/** The hub names the SHA-256 of large files, and the Git object of small ones. */
type Digest = { readonly kind: 'sha256' | 'git'; readonly hex: string };

const largestModelBytes = 4 * 1024 ** 3;
const listingShape = z.object({
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  siblings: z.array(
    z.object({
      rfilename: z.string(),
      size: z.int().nonnegative().optional(),
      blobId: z.string().optional(),
      lfs: z.object({ sha256: z.string(), size: z.int().nonnegative() }).optional(),
    }),
  ),
});

/** Returns the folder of the model. Does nothing if it is complete. Throws a `StartFault`. */
export async function fetchModel(options: FetchingOptions): Promise<string> {
  const { model, dataDir } = options;
  if (!/^[\w.-]+\/[\w.-]+$/.test(model)) throw new StartFault(`${model} is not the name of a model (owner/name).`);
  const folder = folderOf(model, dataDir);
  const known = readManifest(folder);
  const isComplete =
    known !== undefined && (await Promise.all(known.files.map((file) => hasSize(folder, file)))).every(Boolean);
  if (isComplete) return folder;
  const { revision, files } = await listFiles(options);
  const written = options.onStart(files.reduce((sum, { size }) => sum + size, 0));
  for (const file of files) await fetchFile(options, folder, revision, file, written);
  const manifest: Manifest = { model, revision, files: files.map(({ path, size }) => ({ path, size })) };
  await writeFile(`${manifestOf(folder)}.part`, JSON.stringify(manifest, null, 2));
  await rename(`${manifestOf(folder)}.part`, manifestOf(folder));
  return folder;
}

async function hasSize(folder: string, { path, size }: { readonly path: string; readonly size: number }) {
  const found = await stat(join(folder, path)).catch(() => undefined);
  return found?.size === size;
}

async function listFiles({ hub, model, stallMs = defaultStallMs }: FetchingOptions) {
  const url = `${hub}/api/models/${model}/revision/main?blobs=true`;
  const response = await request(url, () => ({ signal: AbortSignal.timeout(stallMs) })).catch((cause: unknown) =>
    unreachable(url, cause),
  );
  const parsed = listingShape.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new StartFault(`${url} returned no list of files.`);
  const { sha: revision, siblings } = parsed.data;
  const network = networkFiles.find((path) => siblings.some(({ rfilename }) => rfilename === path));
  if (network === undefined) throw new StartFault(`${model} has no ONNX file (${networkFiles.join(', ')}).`);
  const files = [network, tokenizerFile].map((path): HubFile => {
    const file = siblings.find(({ rfilename }) => rfilename === path);
    const size = file?.lfs?.size ?? file?.size;
    const hex = file?.lfs?.sha256 ?? file?.blobId;
    if (size === undefined || hex === undefined) throw new StartFault(`${url} names no size and checksum of ${path}.`);
    if (size > largestModelBytes) throw new StartFault(`${path} has ${size} bytes, more than ${largestModelBytes}.`);
    return { path, size, digest: { kind: file?.lfs === undefined ? 'git' : 'sha256', hex } };
  });
  return { revision, files };
}

const defaultStallMs = 60_000;
const mostTries = 5;
const longestWaitS = 300;

/** Waits as the hub demands when it is called too often, and tries a failed hub again. Throws a `StartFault` otherwise. */
async function request(url: string, init: () => RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await outgoingFetch(url, init());
    if (response.ok) return response;
    const { status, headers } = response;
    await response.body?.cancel();
    const waitS = waitOf(headers) ?? tries;
    const mayPass = status === 429 || status >= 500;
    const later = status === 429 ? ` Try again in ${waitS} seconds.` : '';
    if (!mayPass || tries === mostTries || waitS > longestWaitS)
      throw new StartFault(`${url} returned ${status}.${later}`);
    await sleep(waitS * 1000);
  }
}

/** The seconds in `Retry-After`, or until the window of `RateLimit` ends. */
function waitOf(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after') ?? /;\s*t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];
  return seconds !== undefined && /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined;
}

async function fetchFile(
  { hub, model, stallMs = defaultStallMs }: FetchingOptions,
  folder: string,
  revision: string,
  file: HubFile,
  written: (bytes: number) => void,
): Promise<void> {
  const target = join(folder, file.path);
  const part = `${target}.${revision.slice(0, 12)}.part`;
  await mkdir(dirname(target), { recursive: true });
  let have = (await stat(part).catch(() => undefined))?.size ?? 0;
  if (have > file.size) {
    await rm(part);
    have = 0;
  }
  if (have < file.size) {
    const url = `${hub}/${model}/resolve/${revision}/${file.path}`;
    let stall: IdleDeadline | undefined;
    try {
      const headers = have > 0 ? { range: `bytes=${have}-` } : {};
      // The hub redirects to a signed URL, which expires. So each attempt starts at the hub.
      const response = await request(url, () => {
        stall?.stop();
        stall = startIdleDeadline(stallMs);
        return { headers, signal: stall.signal };
      });
      if (response.body === null) throw new StartFault(`${url} returned no content.`);
      if (response.status === 206 && !response.headers.get('content-range')?.startsWith(`bytes ${have}-`))
        throw new StartFault(`${url} returned another part of the file than the requested one. Run the command again.`);
      // A server without ranges sends the whole file.
      if (response.status !== 206) have = 0;
      written(have);
      const count = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          have += chunk.length;
          if (have > file.size) throw new StartFault(`${url} sent more than ${file.size} bytes.`);
          stall?.touch();
          written(chunk.length);
          yield chunk;
        }
      };
      await pipeline(
        Readable.fromWeb(response.body),
        count,
        createWriteStream(part, { flags: response.status === 206 ? 'a' : 'w' }),
      );
    } catch (error) {
      if (error instanceof StartFault) throw error;
      unreachable(url, error);
    } finally {
      stall?.stop();
    }
  } else {
    written(have);
  }
  if ((await digestOf(part, file)) !== file.digest.hex) {
    await rm(part);
    throw new StartFault(`${file.path} does not have the checksum that ${hub} names. Run the command again.`);
  }
  await rename(part, target);
}

function unreachable(url: string, cause: unknown): never {
  const reason =
    cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : 'unknown';
  throw new StartFault(`The download of ${url} ended (${reason}). Run the command again to continue.`);
}

async function digestOf(path: string, { size, digest }: HubFile): Promise<string> {
  const hash = createHash(digest.kind === 'git' ? 'sha1' : 'sha256');
  if (digest.kind === 'git') hash.update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
