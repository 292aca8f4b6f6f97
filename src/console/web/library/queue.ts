/** Uploads that go on while one moves through the pages. Large files continue after a broken connection where it broke. */
import { AtelierError } from '../../../client/errors.ts';
import type { Asset, MediaTaskState, VideoTask } from '../../../client/media/api.ts';
import { mediaCalls } from '../../../client/media/calls.ts';
import type { UploadProgress } from '../../../client/putting.ts';
import { createUpload, type Upload, type UploadDetails } from '../../../client/upload.ts';
import { createShared } from '../shell/shared.ts';
import type { User } from '../user.tsx';
import texts from './uploadtexts.json' with { type: 'json' };

export type UploadStatus = 'waiting' | 'sending' | 'paused' | 'processing' | 'done' | 'failed';

export interface UploadItem {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly status: UploadStatus;
  /** Sent or processed, from 0 to 1. */
  readonly share: number;
  readonly problem: string;
  /** The service refuses the file itself, so a retry cannot succeed. */
  readonly isRefused: boolean;
}

interface Entry {
  readonly user: User;
  readonly upload: Upload;
  readonly onDone: (asset: Asset) => void;
  stop: AbortController;
}

/** A connection is shared with everything else that the page loads. */
const mostAtOnce = 3;
const processingEveryMs = 1000;

const entries = new Map<string, Entry>();
const uploads = createShared<readonly UploadItem[]>([]);

export const useUploads = uploads.use;

const change = (id: string, changes: Partial<UploadItem>) =>
  uploads.write(uploads.read().map((item) => (item.id === id ? { ...item, ...changes } : item)));

/** `onDone` gets each asset once it is registered, and a video again once it is processed. */
export function addUploads(user: User, files: readonly File[], onDone: (asset: Asset) => void): void {
  const added = files.map((file) => {
    const id = crypto.randomUUID();
    entries.set(id, { user, upload: prepareUpload(user, file), onDone, stop: new AbortController() });
    const begun = { status: 'waiting', share: 0, problem: '', isRefused: false } as const;
    return { id, name: file.name, size: file.size, ...begun };
  });
  uploads.write([...uploads.read(), ...added]);
  startNext();
}

export function pauseUpload(id: string): void {
  change(id, { status: 'paused' });
  entries.get(id)?.stop.abort();
  startNext();
}

export function resumeUpload(id: string): void {
  change(id, { status: 'waiting', problem: '' });
  startNext();
}

export function dismissUpload(id: string): void {
  entries.get(id)?.stop.abort();
  entries.delete(id);
  uploads.write(uploads.read().filter((item) => item.id !== id));
  startNext();
}

/** Those that are done or failed stay in the list. */
export function cancelUploads(): void {
  const isOpen = ({ status }: UploadItem) => ['waiting', 'sending', 'paused'].includes(status);
  const open = uploads.read().filter(isOpen);
  const ids = open.map(({ id }) => id);
  // First all of them, so that none starts when another one ends.
  uploads.write(uploads.read().filter(({ id }) => !ids.includes(id)));
  for (const id of ids) dismissUpload(id);
}

// Leaving the page ends its uploads.
addEventListener('beforeunload', (event) => {
  if (uploads.read().some(({ status }) => status === 'waiting' || status === 'sending')) event.preventDefault();
});

export function dismissEnded(): void {
  for (const { id, status } of uploads.read()) if (status === 'done' || status === 'failed') dismissUpload(id);
}

/** Above this size, a file is worth the requests of an upload that continues after a broken connection where it broke. */
const resumableBytes = 4 * 1024 * 1024;

/** As the service accepts it: at most 255 characters, on one line. */
const nameOf = ({ name }: File): string | undefined =>
  name.replace(/[\p{Cc}\p{Cs}/\\]/gu, ' ').slice(0, 255) || undefined;

/** The type that the browser names. What the bytes show counts at the registration. */
const kindOf = ({ type }: File): string => /^(image|video|audio)\//.exec(type)?.[1] ?? 'file';

/** Its `run` begins the upload, or continues it. `about`: the default is an image, a video or another file of the library. */
export function prepareUpload({ media }: User, file: File, about: Partial<UploadDetails> = {}): Upload {
  const details = { scopeKind: 'library', scopeId: 'uploads', kind: kindOf(file), name: nameOf(file) };
  return createUpload(mediaCalls(media), file, { ...details, resumable: file.size > resumableBytes, ...about });
}

/** What has been sent, from 0 to 1. */
export const shareOf = ({ sentBytes, totalBytes }: UploadProgress) => (totalBytes === 0 ? 1 : sentBytes / totalBytes);

function startNext(): void {
  const items = uploads.read();
  const active = items.filter(({ status }) => status === 'sending').length;
  for (const { id } of items.filter(({ status }) => status === 'waiting').slice(0, Math.max(0, mostAtOnce - active)))
    void run(id);
}

async function run(id: string): Promise<void> {
  const entry = entries.get(id);
  if (entry === undefined) return;
  entry.stop = new AbortController();
  const { signal } = entry.stop;
  change(id, { status: 'sending' });
  try {
    const onProgress = (progress: UploadProgress) => signal.aborted || change(id, { share: shareOf(progress) });
    const asset = await entry.upload.run({ signal, onProgress });
    entry.onDone(asset);
    if (asset.mime.startsWith('video/')) await process(id, entry, asset, signal);
    change(id, { status: 'done', share: 1 });
    entries.delete(id);
  } catch (error) {
    if (!signal.aborted) change(id, { status: 'failed', ...describe(error) });
  }
  startNext();
}

/** Makes the poster of a video, and a copy that browsers play if they cannot play the original. */
async function process(id: string, { user, onDone }: Entry, asset: Asset, signal: AbortSignal): Promise<void> {
  change(id, { status: 'processing', share: 0 });
  startNext();
  const { assetId, scopeKind, scopeId, mime } = asset;
  const json = { assetId, scopeKind, scopeId, mime };
  try {
    const { taskId } = await user.json<VideoTask>('media', '/v1/media-tasks/video', { method: 'POST', json, signal });
    for (;;) {
      const task = await user.json<MediaTaskState>('media', `/v1/media-tasks/${taskId}`, { signal });
      if (task.status === 'completed' || task.status === 'failed') break;
      const progress: unknown = Reflect.get(Object('metadata' in task ? task.metadata : undefined), 'progress');
      if (typeof progress === 'number') change(id, { share: progress / 100 });
      await new Promise((resolve) => setTimeout(resolve, processingEveryMs));
    }
  } catch (error) {
    signal.throwIfAborted();
    // The video is in the library. It lacks its poster, for example because the server has no ffmpeg.
    console.info(error);
  }
  onDone(await user.json<Asset>('media', `/v1/assets/${assetId}`, { signal }));
}

const refusals: Readonly<Record<string, string>> = texts.refusals;

function describe(error: unknown): Pick<UploadItem, 'problem' | 'isRefused'> {
  const code = error instanceof AtelierError ? error.code : '';
  const refusal = refusals[code];
  if (refusal !== undefined) return { problem: refusal, isRefused: code !== 'quota_exceeded' };
  const message = error instanceof Error ? error.message : String(error);
  return { problem: `The upload failed. ${message}`, isRefused: false };
}
