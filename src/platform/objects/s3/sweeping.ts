/** Leftovers of resumable uploads: multipart uploads in progress, then the objects below `.uploads/`. */
import type { Objects } from '../objects.ts';
import type { UploadSweep, UploadSweepPage } from '../resumable.ts';
import { abortMultipart, listMultiparts, type Multipart, type S3Place } from './multipart.ts';

export const uploadsPrefix = '.uploads/';

/** The position of a sweep, in `next`: `multipart <upload id> <key>`, or `object <key>`, whose key is empty at first. */
export async function sweepUploads(
  place: S3Place,
  objects: Pick<Objects, 'list' | 'remove'>,
  request: UploadSweep,
): Promise<UploadSweepPage> {
  const { after = '' } = request;
  const key = /^object (.*)$/.exec(after)?.[1];
  return key === undefined
    ? sweepMultiparts(place, request, multipartOf(after))
    : sweepObjects(objects, request, key || undefined);
}

function multipartOf(after: string): Multipart | undefined {
  const [, uploadId, key] = /^multipart (\S+) (.+)$/.exec(after) ?? [];
  return uploadId === undefined || key === undefined ? undefined : { uploadId, key };
}

async function sweepMultiparts(
  place: S3Place,
  { before, apply, limit }: UploadSweep,
  after: Multipart | undefined,
): Promise<UploadSweepPage> {
  const idle: string[] = [];
  let read = 0;
  for await (const multipart of listMultiparts(place, 'u/', after)) {
    if (multipart.initiatedAt < before) {
      if (apply) await abortMultipart(place, multipart);
      idle.push(multipart.uploadId);
    }
    if (++read === limit) return { idle, next: `multipart ${multipart.uploadId} ${multipart.key}` };
  }
  return { idle, next: 'object ' };
}

async function sweepObjects(
  objects: Pick<Objects, 'list' | 'remove'>,
  { before, apply, limit }: UploadSweep,
  after: string | undefined,
): Promise<UploadSweepPage> {
  const idle: string[] = [];
  let last: string | undefined;
  let read = 0;
  for await (const { key, modifiedAt } of objects.list(uploadsPrefix, after)) {
    if (modifiedAt < before) idle.push(key);
    if (++read === limit) {
      last = key;
      break;
    }
  }
  if (apply && idle.length > 0) await objects.remove(idle);
  return { idle, next: last && `object ${last}` };
}
