/** Where an asset comes from, and what was made from it. */
import { Columns2 } from 'lucide-react';
import { Link } from 'wouter';
import type { Asset, AssetPage } from '../../../client/media/api.ts';
import { Button } from '../parts/iconbutton.tsx';
import { useOwn, useUser } from '../user.tsx';
import { AssetImage } from './assetimage.tsx';
import { isImage, isVideo, nameOf, useAsset } from './assets.ts';
import { openDialog } from './dialogs.ts';
import { useSigned } from './signing.ts';

const mostMade = 24;

export function Lineage({ asset }: { readonly asset: Asset }) {
  const { assetId, generation } = asset;
  const query = new URLSearchParams({ derivedFrom: assetId, thumbnails: 'false', limit: String(mostMade) });
  const { data: made } = useOwn<AssetPage>(['made', assetId], 'media', `/v1/assets?${query}`, { staleTime: 0 });
  const sources = [...new Set(generation?.references)];
  const compared = [...(isImage(asset) ? sources : []), assetId];
  return (
    <>
      <Related title="Made from" of={sources.map((id) => [id, undefined])} />
      {compared.length > 1 && (
        <Button Icon={Columns2} text="Compare" onClick={() => openDialog({ kind: 'compare', assetIds: compared })} />
      )}
      <Related title="Used for" of={(made?.assets ?? []).map((one) => [one.assetId, one])} />
    </>
  );
}

interface RelatedProps {
  readonly title: string;
  /** The assets that are known, by id. */
  readonly of: readonly (readonly [id: string, known: Asset | undefined])[];
}

function Related({ title, of: assets }: RelatedProps) {
  if (assets.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul className="lineage" aria-label={title}>
        {assets.map(([id, known]) => (
          <li key={id}>
            <One assetId={id} known={known} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A link, unless the asset is published by another user. */
function One({ assetId, known }: { readonly assetId: string; readonly known: Asset | undefined }) {
  const user = useUser();
  const { data: asset, error } = useAsset(assetId, known);
  if (asset === undefined) return <span className="quiet small">{error ? 'No longer there' : ''}</span>;
  const picture = <Picture asset={asset} />;
  if (asset.ownerId !== user.id) return picture;
  return (
    <Link href={`/library/${assetId}${location.search}`} replace state={{ fromPage: history.state?.fromPage }}>
      {picture}
    </Link>
  );
}

function Picture({ asset }: { readonly asset: Asset }) {
  const user = useUser();
  const { data } = useSigned(isVideo(asset) ? 'video' : 'image', asset.assetId);
  const name = asset.ownerId === user.id ? nameOf(asset) : 'Published by another user';
  return <AssetImage url={data?.thumbUrl ?? data?.previewUrl} alt={name} blurhash={asset.blurhash} />;
}
