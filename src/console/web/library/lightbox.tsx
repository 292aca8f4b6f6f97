import { File, Info, MessageSquare } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Asset } from '../../../client/media/api.ts';
import { useModelName } from '../create/order.ts';
import { TextField } from '../parts/fields.tsx';
import { durationOf, momentOf, sizeOf } from '../parts/figures.tsx';
import { IconButton, icon } from '../parts/iconbutton.tsx';
import { Loaded } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';
import { useFavorites } from './albums.ts';
import { AssetImage } from './assetimage.tsx';
import { isImage, isVideo, nameOf, promptOf, useAsset, useCached, wordOf } from './assets.ts';
import { Editor } from './editor.tsx';
import { Lineage } from './lineage.tsx';
import { MediaActions } from './mediaactions.tsx';
import { useSigned } from './signing.ts';
import { Film, Stage, type Steps, Viewer, Zoomable } from './stage.tsx';

interface LightboxProps {
  readonly assetId: string;
  readonly known: Asset | undefined;
  readonly steps: Steps;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
  readonly isEditing?: boolean;
  readonly onEditing?: (isEditing: boolean) => void;
  /** An edit has made this asset. */
  readonly onMade?: (assetId: string) => Promise<unknown>;
  /** In place of the actions of the library, for the trash. */
  readonly children?: ReactNode;
}

/** One asset of the user, with its facts and its actions. */
export function Lightbox({ assetId, known, steps, onClose, isEditing = false, ...props }: LightboxProps) {
  const { onDeleted, onEditing, onMade, children } = props;
  const [hasFacts, setFacts] = useState(() => innerWidth >= 900);
  const query = useAsset(assetId, known);
  const asset = query.data;
  const changeFavorites = useFavorites();
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (isEditing || target instanceof HTMLVideoElement || target instanceof HTMLInputElement) return;
      if (key === 'f' && asset?.trashedAt === null)
        void changeFavorites([assetId], !asset.favorite).catch(notifyFailure);
      if (key === 'i') setFacts(!hasFacts);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  const top = (
    <>
      {isEditing && <h2>Edit the image</h2>}
      {children}
      {asset && !isEditing && !children && (
        <MediaActions
          key={assetId}
          asset={asset}
          prompt={promptOf(asset)}
          isFavorite={asset.favorite}
          layout="bar"
          onDeleted={onDeleted}
          onEdit={() => onEditing?.(true)}
        />
      )}
      {!isEditing && (
        <IconButton label="Details" Icon={Info} size={20} aria-pressed={hasFacts} onClick={() => setFacts(!hasFacts)} />
      )}
    </>
  );
  return (
    <Viewer
      label={asset ? nameOf(asset) : 'Asset'}
      top={top}
      hasAside={hasFacts || isEditing}
      onClose={onClose}
      onCancel={() => (isEditing ? onEditing?.(false) : onClose())}
    >
      {isEditing && asset && onMade ? (
        <Editor key={assetId} asset={asset} onMade={onMade} onClose={() => onEditing?.(false)} />
      ) : (
        <>
          <Stage steps={steps}>
            <Loaded of={query} what="Reading the asset">
              {(read) => <View key={assetId} asset={read} steps={steps} />}
            </Loaded>
          </Stage>
          {hasFacts && asset && <Facts asset={asset} />}
        </>
      )}
    </Viewer>
  );
}

function View({ asset, steps }: { readonly asset: Asset; readonly steps: Steps }) {
  const { data } = useSigned(isVideo(asset) ? 'video' : 'image', asset.assetId);
  if (data?.ready === false) return <p className="quiet">This file has been deleted.</p>;
  if (isVideo(asset)) return <Film url={data?.playUrl ?? data?.url} poster={data?.thumbUrl} label={nameOf(asset)} />;
  if (isImage(asset))
    return (
      <Zoomable pixels={asset.width} steps={steps}>
        <AssetImage
          url={(movesFor(asset) ? undefined : data?.previewUrl) ?? data?.url}
          alt={promptOf(asset) ?? nameOf(asset)}
          blurhash={asset.blurhash}
          isWhole
        />
      </Zoomable>
    );
  return (
    <a className="button" href={data?.url} target="_blank" rel="noreferrer">
      <File {...icon} />
      Open the file
    </a>
  );
}

/** Only the original of an animation moves. */
const movesFor = ({ animated }: Asset) => animated === true && !matchMedia('(prefers-reduced-motion: reduce)').matches;

function Facts({ asset }: { readonly asset: Asset }) {
  const { scopeKind, scopeId } = asset;
  const conversation = scopeKind === 'thread' && !scopeId.startsWith('mcp-') && `/studio/${scopeId}`;
  const format = (asset.mime.split('/')[1] ?? '').toUpperCase();
  const facts = [
    ['Model', useModelName(isVideo(asset) ? 'video' : 'image', asset.generation?.model ?? '') || asset.model],
    [asset.generated === null ? 'Added' : 'Created', momentOf(asset.createdAt)],
    ['Type', `${wordOf(asset)} (${format}${asset.animated ? ', animated' : ''})`],
    ['Dimensions', asset.width !== null && `${asset.width} × ${asset.height}`],
    ['Length', asset.durationMs !== null && durationOf(asset.durationMs)],
    ['Size', sizeOf(asset.byteSize)],
    ['Visibility', asset.published && 'Published in Explore'],
  ] as const;
  return (
    <aside className="aside" aria-label="Details">
      {asset.prompt !== null && (
        <section>
          <h2>Prompt</h2>
          <p className="prompt">{promptOf(asset)}</p>
        </section>
      )}
      <Lineage asset={asset} />
      <Name key={asset.assetId} asset={asset} />
      <Pairs of={Object.fromEntries(facts.filter(([, value]) => value))} />
      {conversation && (
        <Link className="button" href={conversation}>
          <MessageSquare size={16} strokeWidth={1.75} aria-hidden="true" />
          Open in conversation
        </Link>
      )}
    </aside>
  );
}

/** The name is saved when the field is left. */
function Name({ asset }: { readonly asset: Asset }) {
  const user = useUser();
  const { patch } = useCached();
  const [name, setName] = useState(asset.name ?? '');
  const save = async () => {
    const next = name.trim() === '' ? null : name.trim();
    if (next === asset.name) return;
    const json = { name: next };
    await user.json('media', `/v1/assets/${asset.assetId}`, { method: 'PATCH', json }).then(
      () => patch([asset.assetId], json),
      (error: unknown) => {
        setName(asset.name ?? '');
        notifyFailure(error);
      },
    );
  };
  return (
    <TextField
      label="Name"
      maxLength={255}
      placeholder="No name"
      value={name}
      onBlur={() => void save()}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Enter') event.currentTarget.blur();
      }}
      onChange={setName}
    />
  );
}
