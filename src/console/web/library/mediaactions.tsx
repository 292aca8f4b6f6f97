/** The actions of an image or a video, for tiles, the lightbox and conversations. */
import {
  Brush,
  Clapperboard,
  Download,
  Ellipsis,
  FolderPlus,
  Heart,
  ImagePlus,
  MessageSquare,
  RotateCw,
  Share2,
  Sparkles,
  Stamp,
  Trash2,
} from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { type ComponentType, createContext, useContext, useState } from 'react';
import { createAgain, startCreating } from '../create/order.ts';
import { useIsNarrow } from '../shell/browser.ts';
import { useTopDialog } from '../shell/modal.ts';
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
export const MoreActions = createContext((_: ActionTarget): readonly Action[] => []);

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
  readonly Icon: ComponentType<{ size: number; strokeWidth: number; 'aria-hidden': true }>;
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
      <Menu actions={actions.filter((action) => !isShown(action))} />
    </div>
  );
}

function Menu({ actions }: { readonly actions: readonly Action[] }) {
  // A dialog covers the page, so the menu has to be in it.
  const dialog = useTopDialog();
  return (
    // A modal menu would add a style tag, which the policy of the console rejects.
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="icon" aria-label="More actions" title="More actions">
        <Ellipsis size={16} strokeWidth={1.75} aria-hidden={true} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal {...(dialog && { container: dialog })}>
        <DropdownMenu.Content className="mediamenu" align="end" sideOffset={4}>
          {actions.map(({ name, Icon, run, isDanger, isOn }) => (
            <DropdownMenu.Item key={name} className={isDanger ? 'danger' : ''} onSelect={() => void run()}>
              <Icon size={16} strokeWidth={1.75} aria-hidden={true} />
              {isOn ? `${name}: remove` : name}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** While one action runs, the others wait. */
function useActions({ asset, prompt, isFavorite, onEdit, onDeleted }: MediaActionsProps) {
  const user = useUser();
  const attach = useContext(AttachContext);
  const changeFavorites = useFavorites();
  const { trash } = useTrash();
  const more = useContext(MoreActions)(asset);
  const [isBusy, setBusy] = useState(false);
  const run = (work: () => Promise<void>) => async () => {
    setBusy(true);
    await work().catch(notifyFailure);
    setBusy(false);
  };
  const download: Action = {
    name: 'Download',
    Icon: Download,
    isFirst: true,
    bar: isImage(asset) ? 'icon' : 'primary',
    run: run(() => downloadOriginal(user, asset)),
  };
  const watermarked: Action = {
    name: 'Download with watermark',
    Icon: Stamp,
    run: run(async () => {
      notify('Preparing the download …');
      await downloadWatermarked(user, asset);
    }),
  };
  const words = prompt ?? '';
  const from = { references: [asset.assetId] };
  const variation = { deed: 'vary', prompt: words, ...from } as const;
  const animation = { kind: 'video', ...from } as const;
  // Tiles of the library, which know their favorites, have less room.
  const isFirst = isFavorite === undefined;
  const again: Action = {
    name: 'Use prompt and settings',
    Icon: RotateCw,
    run: run(() => createAgain(user, asset.assetId, { kind: isVideo(asset) ? 'video' : 'image', prompt: words })),
  };
  const sharing: Action = {
    name: 'Share',
    Icon: Share2,
    bar: 'icon',
    run: () => openDialog({ kind: 'share', asset, prompt }),
  };
  const favorite: Action = {
    name: 'Favorite',
    Icon: Heart,
    isFirst: true,
    bar: 'icon',
    isOn: isFavorite,
    run: run(() => changeFavorites([asset.assetId], !isFavorite)),
  };
  const album: Action = {
    name: 'Add to album',
    Icon: FolderPlus,
    run: () => openDialog({ kind: 'album', assetIds: [asset.assetId] }),
  };
  const deletion: Action = {
    name: 'Delete',
    Icon: Trash2,
    isDanger: true,
    bar: 'icon',
    run: () => {
      trash([asset]);
      onDeleted?.();
    },
  };
  const ofImages: readonly Action[] = [
    { name: 'Edit', Icon: Brush, isFirst: true, bar: 'primary', run: () => (onEdit ?? openEditor)(asset) },
    { name: 'Vary', Icon: Sparkles, isFirst, bar: 'named', run: () => startCreating(variation) },
    { name: 'Animate', Icon: Clapperboard, isFirst, bar: 'named', run: () => startCreating(animation) },
  ];
  const reference: Action = {
    name: attach ? 'Use as reference' : 'Continue in conversation',
    Icon: attach ? ImagePlus : MessageSquare,
    isFirst: true,
    run: () => (attach ?? referInStudio)(asset),
  };
  const isMedia = isImage(asset) || isVideo(asset);
  const actions = [
    ...(isImage(asset) ? ofImages : []),
    ...(isMedia ? [reference] : []),
    ...(prompt ? [again] : []),
    ...(isFavorite === undefined ? [] : [favorite]),
    album,
    ...more,
    ...(isMedia ? [sharing] : []),
    download,
    ...(isMedia ? [watermarked] : []),
    deletion,
  ];
  return { actions, isBusy };
}
