/** How files of the user reach the media service. */
import { mediaCalls } from '../../../client/media/calls.ts';
import type { UploadProgress } from '../../../client/putting.ts';
import { createUpload, type Upload, type UploadDetails } from '../../../client/upload.ts';
import type { User } from '../user.tsx';

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
