/** The actions of an image or a video, for tiles, the lightbox and conversations. */
import {
  Brush,
  Clapperboard,
  Download,
  Ellipsis,
  FolderPlus,
  Heart,
  ImagePlus,
  type LucideIcon,
  MessageSquare,
  RotateCw,
  Share2,
  Sparkles,
  Stamp,
  Trash2,
} from 'lucide-react';
import { createContext, useContext, useState } from 'react';
import { createAgain, startCreating } from '../create/order.ts';
import { IconButton } from '../parts/iconbutton.tsx';
import { useIsNarrow } from '../shell/browser.ts';
import { Menu, MenuItem } from '../shell/menu.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';
import { downloadOriginal, downloadWatermarked, openEditor, referInStudio } from './actions.ts';
import { useFavorites } from './albums.ts';
import { isImage, isVideo } from './assets.ts';
import { openDialog } from './dialogs.ts';
import type { ActionTarget } from './downloading.ts';
import './mediaactions.css';
import { useTrash } from './trash.ts';

/** Attaches an asset to the message that the user writes. Outside a conversation, a new one opens with the asset. */
export const AttachContext = createContext<((asset: ActionTarget) => void) | undefined>(undefined);

/** Those of the page that shows the asset. */
export const MoreActions = createContext((_: ActionTarget, _onGone?: () => void): readonly Action[] => []);

interface MediaActionsProps {
  readonly asset: ActionTarget;
  /** The words that it was made from, if they are known. */
  readonly prompt: string | null;
  /** `undefined`: unknown. */
  readonly isFavorite?: boolean | undefined;
  /** Default: opens the editor. */
  readonly onEdit?: ((asset: ActionTarget) => void) | undefined;
  readonly onDeleted?: (() => void) | undefined;
  /** `bar`: above an image, the rest in a menu. `overlay`: the same over an image. `menu`: all in a menu, as any overlay on a phone. */
  readonly layout?: 'bar' | 'overlay' | 'menu';
}

interface Action {
  readonly name: string;
  readonly Icon: LucideIcon;
  readonly run: () => Promise<unknown> | unknown;
  readonly isDanger?: boolean;
  /** Shown as an icon over the image. */
  readonly isFirst?: boolean;
  /** How the bar of a wide window shows it. On a phone, each has its name. */
  readonly bar?: 'primary' | 'named' | 'icon';
  /** A choice that is on or off. */
  readonly isOn?: boolean | undefined;
}

export function MediaActions({ layout = 'overlay', ...props }: MediaActionsProps) {
  const { actions, isBusy } = useActions(props);
  const isBar = layout === 'bar';
  const isNarrow = useIsNarrow();
  const hasIcons = layout === 'overlay' && !isNarrow;
  const isShown = ({ isFirst, bar, isDanger }: Action) =>
    isBar ? bar !== undefined && !(isNarrow && isDanger) : hasIcons && isFirst;
  const shown = actions.filter(isShown);
  return (
    <div className={`mediaactions ${isBar ? 'bar' : 'overlay'}`}>
      {shown.map(({ name, Icon, run, isDanger, isOn, bar = 'icon' }) => (
        <button
          key={name}
          type="button"
          className={`${isBar && isNarrow ? '' : isBar ? bar : 'icon'} ${isDanger ? 'danger' : ''}`}
          aria-label={name}
          aria-pressed={isOn}
          title={name}
          disabled={isBusy}
          onClick={() => void run()}
        >
          <Icon size={16} strokeWidth={1.75} aria-hidden={true} />
          {isBar && (isNarrow || bar !== 'icon') && <span className="name">{name}</span>}
        </button>
      ))}
      <Menu align="end" isFloating trigger={<IconButton label="More actions" Icon={Ellipsis} className="icon" />}>
        {actions
          .filter((action) => !isShown(action))
          .map(({ name, Icon, run, isDanger, isOn }) => (
            <MenuItem key={name} Icon={Icon} tone={isDanger ? 'danger' : 'plain'} onSelect={() => void run()}>
              {isOn ? `${name}: remove` : name}
            </MenuItem>
          ))}
      </Menu>
    </div>
  );
}

const act = (name: string, Icon: Action['Icon'], run: Action['run'], shown: Partial<Action> = {}): Action => ({
  name,
  Icon,
  run,
  ...shown,
});

/** While one action runs, the others wait. */
function useActions({ asset, prompt, isFavorite, onEdit, onDeleted }: MediaActionsProps) {
  const user = useUser();
  const attach = useContext(AttachContext);
  const changeFavorites = useFavorites();
  const { trash } = useTrash();
  const more = useContext(MoreActions)(asset, onDeleted);
  const [isBusy, setBusy] = useState(false);
  const run = (work: () => Promise<void>) => async () => {
    setBusy(true);
    await work().catch(notifyFailure);
    setBusy(false);
  };
  const { assetId } = asset;
  const references = [assetId];
  const isPicture = isImage(asset);
  const isMedia = isPicture || isVideo(asset);
  const kind = isVideo(asset) ? 'video' : 'image';
  const animate = () => startCreating({ kind: 'video', references });
  const again = () => createAgain(user, assetId, { kind, prompt: prompt ?? '' });
  const like = () => changeFavorites([assetId], !isFavorite);
  const save = () => downloadOriginal(user, asset);
  const vary = () => startCreating({ deed: 'vary', prompt: prompt ?? '', references });
  const prepare = async () => {
    notify('Preparing the download …');
    await downloadWatermarked(user, asset);
  };
  const remove = () => {
    void trash([asset]);
    onDeleted?.();
  };
  // Tiles of the library, which know their favorites, have less room.
  const isFirst = isFavorite === undefined;
  const [reference, Icon] = attach
    ? (['Use as reference', ImagePlus] as const)
    : (['Continue in conversation', MessageSquare] as const);
  const actions = [
    isPicture && act('Edit', Brush, () => (onEdit ?? openEditor)(asset), { isFirst: true, bar: 'primary' }),
    isPicture && act('Vary', Sparkles, vary, { isFirst, bar: 'named' }),
    isPicture && act('Animate', Clapperboard, animate, { isFirst, bar: 'named' }),
    isMedia && act(reference, Icon, () => (attach ?? referInStudio)(asset), { isFirst: true }),
    prompt && act('Use prompt and settings', RotateCw, run(again)),
    !isFirst && act('Favorite', Heart, run(like), { isFirst: true, bar: 'icon', isOn: isFavorite }),
    act('Add to album', FolderPlus, () => openDialog({ kind: 'album', assetIds: [assetId] })),
    ...more,
    isMedia && act('Share', Share2, () => openDialog({ kind: 'share', asset, prompt }), { bar: 'icon' }),
    act('Download', Download, run(save), { isFirst: true, bar: isPicture ? 'icon' : 'primary' }),
    isMedia && act('Download with watermark', Stamp, run(prepare)),
    act('Delete', Trash2, remove, { isDanger: true, bar: 'icon' }),
  ].filter((action) => typeof action === 'object' && action !== null);
  return { actions, isBusy };
}
