/** The names of downloaded files, and their URLs. */
import type { Asset } from '../../../client/media/api.ts';
import type { User } from '../user.tsx';
import { isVideo } from './assets.ts';
import named from './extensions.json' with { type: 'json' };
import type { Signed } from './signing.ts';

/** The facts that the actions need. A conversation knows no more of its images. */
export type ActionTarget = Pick<Asset, 'assetId' | 'mime'> & { readonly name?: string | null | undefined };

const extensions: Readonly<Record<string, string>> = named;

/** The name that the file was uploaded with, or one of its own. */
export const fileNameOf = ({ assetId, mime, name }: ActionTarget) =>
  name ??
  `atelier-${assetId.slice(0, 8)}.${Reflect.get(extensions, mime) ?? mime.split('/')[1]?.replace(/^x-/, '') ?? 'bin'}`;

/** The URL of the original. Throws if it has been deleted. */
export async function signDownload(user: User, asset: ActionTarget): Promise<string> {
  const json = { refs: [asset.assetId], download: fileNameOf(asset) };
  const path = `/v1/sign/${isVideo(asset) ? 'video' : 'image'}`;
  const signed = await user.json<Readonly<Record<string, Signed>>>('media', path, { method: 'POST', json });
  const url = signed[asset.assetId]?.url;
  if (url === undefined) throw new Error('This file has been deleted.');
  return url;
}
