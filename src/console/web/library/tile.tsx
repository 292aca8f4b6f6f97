import { File, Globe, Heart, Play, RotateCcw } from 'lucide-react';
import { memo, useState } from 'react';
import type { Asset } from '../../../client/media/api.ts';
import { durationOf } from '../parts/figures.tsx';
import { Button } from '../parts/iconbutton.tsx';
import { AssetImage } from './assetimage.tsx';
import { isImage, isVideo, nameOf, promptOf, wordOf } from './assets.ts';
import { MediaActions } from './mediaactions.tsx';
import { useSigned } from './signing.ts';
import { daysLeft } from './trash.ts';

interface TileProps {
  readonly asset: Asset;
  readonly place: number;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  readonly isChosen: boolean;
  /** Something is chosen, so a click chooses too. */
  readonly isChoosing: boolean;
  readonly isTabStop: boolean;
  readonly onOpen?: ((asset: Asset) => void) | undefined;
  readonly onEdit?: ((asset: Asset) => void) | undefined;
  readonly onToggle: (place: number, isRange: boolean) => void;
  readonly onFocus: (place: number) => void;
  /** In the trash. */
  readonly onRestore?: ((asset: Asset) => void) | undefined;
}

/** In a narrower tile, the buttons would be in the way of the click that opens it. */
const narrowPx = 160;

export const Tile = memo(function Tile(props: TileProps) {
  const { asset, place, width, height, isChosen, isChoosing, isTabStop } = props;
  const { onOpen, onEdit, onToggle, onFocus, onRestore } = props;
  const name = nameOf(asset);
  // Most tiles only pass by, so their actions are not made before they can be used.
  const [isNear, setNear] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only shows actions that the lightbox has too.
    <div
      className={`tile ${isChosen ? 'chosen' : ''}`}
      data-place={place}
      style={{ width, height }}
      onPointerEnter={() => setNear(true)}
      onFocus={() => setNear(true)}
    >
      <button
        type="button"
        className="open"
        draggable
        tabIndex={isTabStop ? 0 : -1}
        aria-label={name}
        onFocus={() => onFocus(place)}
        onClick={(event) => {
          if (isChoosing || event.shiftKey || event.ctrlKey || event.metaKey) onToggle(place, event.shiftKey);
          else onOpen?.(asset);
        }}
      >
        <Thumb asset={asset} isLarge={Math.max(width, height) > thumbSide} />
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
      <Marks asset={asset} isNarrow={width < narrowPx} />
      {onRestore && (
        <Button
          Icon={RotateCcw}
          text={width < narrowPx ? '' : 'Restore'}
          className="restore"
          aria-label={`Restore ${name}`}
          tabIndex={isTabStop ? 0 : -1}
          onClick={() => onRestore(asset)}
        />
      )}
      {isNear && !isChoosing && !onRestore && (
        <div className="hover">
          <MediaActions
            asset={asset}
            prompt={promptOf(asset)}
            isFavorite={asset.favorite}
            layout={width < narrowPx ? 'menu' : 'overlay'}
            onEdit={() => onEdit?.(asset)}
          />
        </div>
      )}
    </div>
  );
});

function Marks({ asset, isNarrow }: { readonly asset: Asset; readonly isNarrow: boolean }) {
  return (
    <span className={`marks ${isNarrow ? 'slim' : ''}`}>
      {isVideo(asset) && (
        <span className="badge">
          <Play size={16} strokeWidth={1.75} aria-hidden="true" />
          {asset.durationMs === null ? wordOf(asset) : durationOf(asset.durationMs)}
        </span>
      )}
      {asset.animated && <span className="badge">Animated</span>}
      {asset.trashedAt !== null && (
        <span className="badge">
          {isNarrow && <span aria-hidden="true">{Number.parseInt(daysLeft(asset.trashedAt), 10)} d</span>}
          <span className={isNarrow ? 'unseen' : ''}>{daysLeft(asset.trashedAt)}</span>
        </span>
      )}
      {asset.favorite && asset.trashedAt === null && (
        <span className="badge">
          <Heart size={16} strokeWidth={1.75} fill="currentColor" role="img" aria-label="Favorite" />
        </span>
      )}
      {asset.published && asset.trashedAt === null && (
        <span className="badge">
          <Globe size={16} strokeWidth={1.75} aria-hidden="true" />
          <span className={isNarrow ? 'unseen' : ''}>Published</span>
        </span>
      )}
    </span>
  );
}

/** Of the larger side of a thumbnail, in pixels. */
const thumbSide = 400;

type Thumbed = Pick<Asset, 'assetId' | 'mime'> & Partial<Asset>;

export function Thumb({ asset, isLarge = false }: { readonly asset: Thumbed; readonly isLarge?: boolean }) {
  const kind = isVideo(asset) ? 'video' : 'image';
  const { data } = useSigned(kind, isVideo(asset) || isImage(asset) ? asset.assetId : null);
  if (!isVideo(asset) && !isImage(asset))
    return (
      <span className="file">
        <File size={20} strokeWidth={1.75} aria-hidden="true" />
        <span className="cut">{asset.name ?? asset.mime.split('/')[1]}</span>
      </span>
    );
  const small = data?.thumbUrl ?? (isImage(asset) ? data?.url : undefined);
  return <AssetImage url={(isLarge ? data?.previewUrl : undefined) ?? small} alt="" blurhash={asset.blurhash} />;
}
