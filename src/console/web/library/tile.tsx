import { File, Globe, Heart, Play } from 'lucide-react';
import { memo, useState } from 'react';
import type { Asset } from '../../../client/media/api.ts';
import { durationOf } from '../parts/figures.tsx';
import { isShared } from './actions.ts';
import { AssetImage } from './assetimage.tsx';
import { isImage, isVideo, nameOf, wordOf } from './assets.ts';
import { MediaActions } from './mediaactions.tsx';
import { useSigned } from './signing.ts';

interface TileProps {
  readonly asset: Asset;
  readonly place: number;
  /** In pixels. */
  readonly size: number;
  readonly isChosen: boolean;
  /** Something is chosen, so a click chooses too. */
  readonly isChoosing: boolean;
  readonly isTabStop: boolean;
  readonly onOpen: (asset: Asset) => void;
  readonly onEdit: (asset: Asset) => void;
  readonly onToggle: (place: number, isRange: boolean) => void;
  readonly onFocus: (place: number) => void;
}

export const Tile = memo(function Tile(props: TileProps) {
  const { asset, place, size, isChosen, isChoosing, isTabStop, onOpen, onEdit, onToggle, onFocus } = props;
  const name = nameOf(asset);
  // Most tiles only pass by, so their actions are not made before they can be used.
  const [isNear, setNear] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only shows actions that the lightbox has too.
    <div
      className={`tile ${isChosen ? 'chosen' : ''}`}
      data-place={place}
      style={{ width: size, height: size }}
      onPointerEnter={() => setNear(true)}
      onFocus={() => setNear(true)}
    >
      <button
        type="button"
        className="open"
        tabIndex={isTabStop ? 0 : -1}
        aria-label={name}
        onFocus={() => onFocus(place)}
        onClick={(event) => {
          if (isChoosing || event.shiftKey || event.ctrlKey || event.metaKey) onToggle(place, event.shiftKey);
          else onOpen(asset);
        }}
      >
        <Thumb asset={asset} />
      </button>
      <input
        type="checkbox"
        className="choose"
        checked={isChosen}
        aria-label={`Select ${name}`}
        tabIndex={isTabStop ? 0 : -1}
        onClick={(event) => onToggle(place, event.shiftKey)}
        // The click has the Shift key.
        onChange={() => undefined}
      />
      <Marks asset={asset} />
      {isNear && !isChoosing && (
        <div className="hover">
          <MediaActions asset={asset} prompt={asset.prompt} isFavorite={asset.favorite} onEdit={() => onEdit(asset)} />
        </div>
      )}
    </div>
  );
});

function Marks({ asset }: { readonly asset: Asset }) {
  return (
    <span className="marks">
      {isVideo(asset) && (
        <span className="badge">
          <Play size={16} strokeWidth={1.75} aria-hidden="true" />
          {asset.durationMs === null ? wordOf(asset) : durationOf(asset.durationMs)}
        </span>
      )}
      {asset.favorite && (
        <span className="badge">
          <Heart size={16} strokeWidth={1.75} fill="currentColor" role="img" aria-label="Favorite" />
        </span>
      )}
      {isShared(asset) && (
        <span className="badge">
          <Globe size={16} strokeWidth={1.75} aria-hidden="true" />
          Shared
        </span>
      )}
    </span>
  );
}

function Thumb({ asset }: { readonly asset: Asset }) {
  if (isImage(asset)) return <ImageThumb asset={asset} />;
  if (isVideo(asset)) return <VideoThumb asset={asset} />;
  return (
    <span className="file">
      <File size={20} strokeWidth={1.75} aria-hidden="true" />
      <span className="cut">{asset.name ?? asset.mime.split('/')[1]}</span>
    </span>
  );
}

function ImageThumb({ asset }: { readonly asset: Asset }) {
  const { data } = useSigned('image', asset.assetId);
  return <AssetImage url={data?.thumbUrl ?? data?.url} alt="" blurhash={asset.blurhash} />;
}

function VideoThumb({ asset }: { readonly asset: Asset }) {
  const { data } = useSigned('video', asset.assetId);
  return <AssetImage url={data?.thumbUrl} alt="" blurhash={asset.blurhash} />;
}
