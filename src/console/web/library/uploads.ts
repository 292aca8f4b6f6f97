/** Uploads as any application does: reserves a place, sends the bytes to the store, and registers the asset. */
import type { Asset } from '../../../client/media/api.ts';
import { CallFailed } from '../calls.ts';
import type { User } from '../user.tsx';

interface Reservation {
  readonly assetId: string;
  readonly uploadUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Formats that models accept and browsers show unchanged. */
export const attachmentTypes = 'image/jpeg,image/png,image/webp,image/gif,image/avif';
export const pictureTypes = `${attachmentTypes},image/heic,image/heif,image/tiff,image/bmp,.heic,.heif`;

/** `onProgress` gets the share that has been sent, from 0 to 1. */
export async function uploadPicture(
  user: User,
  file: File,
  scope: { readonly scopeKind: string; readonly scopeId: string },
  onProgress: (share: number) => void,
): Promise<Asset> {
  const described = { ...scope, kind: 'image', mime: file.type || 'application/octet-stream' };
  const { assetId, uploadUrl, headers } = await user.json<Reservation>('media', '/v1/uploads', {
    method: 'POST',
    json: { ...described, byteSize: file.size },
  });
  await put(uploadUrl, headers, file, onProgress);
  return user.json<Asset>('media', '/v1/assets', { method: 'POST', json: { ...described, assetId } });
}

/** `fetch` does not report the progress of an upload. */
function put(
  url: string,
  headers: Readonly<Record<string, string>>,
  file: File,
  onProgress: (share: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    request.onload = () => {
      // 412: these bytes are uploaded already.
      if (request.status < 300 || request.status === 412) resolve();
      else reject(new CallFailed(request.status, { message: `The store refused the upload (${request.status}).` }));
    };
    request.onerror = () => reject(new CallFailed(0, { message: 'The upload was cut off.' }));
    request.send(file);
  });
}
