import type { Asset } from '../../../client/media/api.ts';
import { durationOf, momentOf } from '../parts/figures.tsx';
import { Picture } from './picture.tsx';
import { useSigned } from './signing.ts';

export const isVideo = ({ mime }: Asset) => mime.startsWith('video/');
export const isImage = ({ mime }: Asset) => mime.startsWith('image/');

export function nameOf(asset: Asset): string {
  const what = isVideo(asset) ? 'Video' : isImage(asset) ? 'Picture' : 'File';
  return `${what} of ${momentOf(asset.createdAt)}`;
}

export function Grid({
  assets,
  onOpen,
}: {
  readonly assets: readonly Asset[];
  readonly onOpen: (asset: Asset) => void;
}) {
  return (
    <ul className="grid">
      {assets.map((asset) => (
        <li key={asset.assetId}>
          <button type="button" className="tile" onClick={() => onOpen(asset)} aria-label={nameOf(asset)}>
            {isVideo(asset) ? <VideoThumb asset={asset} /> : isImage(asset) ? <ImageThumb asset={asset} /> : asset.mime}
          </button>
        </li>
      ))}
    </ul>
  );
}

function ImageThumb({ asset }: { readonly asset: Asset }) {
  const { data } = useSigned('image', asset.assetId);
  return <Picture url={data?.thumbUrl ?? data?.url} alt="" blurhash={asset.blurhash} />;
}

function VideoThumb({ asset }: { readonly asset: Asset }) {
  const { data } = useSigned('video', asset.assetId);
  return (
    <>
      <Picture url={data?.thumbUrl} alt="" blurhash={asset.blurhash} />
      <span className="badge">{asset.durationMs === null ? 'Video' : `Video ${durationOf(asset.durationMs)}`}</span>
    </>
  );
}
