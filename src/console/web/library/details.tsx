import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Asset } from '../../../client/media/api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { durationOf, sizeOf, When } from '../parts/figures.tsx';
import { useUser } from '../user.tsx';
import { isImage, isVideo, nameOf } from './grid.tsx';
import { Picture } from './picture.tsx';
import { useSigned } from './signing.ts';

export function Details({
  asset,
  onClose,
  onChange,
}: {
  readonly asset: Asset;
  readonly onClose: () => void;
  /** Something was copied or deleted. */
  readonly onChange: () => Promise<unknown>;
}) {
  const user = useUser();
  const remove = useMutation({
    mutationFn: () => user.json('media', '/v1/assets', { method: 'DELETE', json: { ids: [asset.assetId] } }),
    onSuccess: async () => {
      await onChange();
      onClose();
    },
  });
  return (
    <Dialog title={nameOf(asset)} onClose={onClose} isWide>
      <View asset={asset} />
      <dl className="pairs facts">
        <Fact name="Type" value={asset.mime} />
        <Fact name="Size" value={sizeOf(asset.byteSize)} />
        {asset.width !== null && <Fact name="Pixels" value={`${asset.width} × ${asset.height}`} />}
        {asset.durationMs !== null && <Fact name="Length" value={durationOf(asset.durationMs)} />}
        <Fact name="Scope" value={<code>{`${asset.scopeKind}/${asset.scopeId}`}</code>} />
        <Fact name="Made" value={<When at={asset.createdAt} />} />
        <Fact name="Id" value={<code>{asset.assetId}</code>} />
      </dl>
      <Copying asset={asset} onCopied={onChange} />
      <div className="row">
        <Download asset={asset} />
        <Confirm
          label="Delete"
          question="Delete it for good?"
          onConfirm={() => remove.mutateAsync().catch(() => undefined)}
        />
      </div>
      {remove.error && (
        <p className="problem" role="alert">
          {remove.error.message}
        </p>
      )}
    </Dialog>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function View({ asset }: { readonly asset: Asset }) {
  const { data } = useSigned(isVideo(asset) ? 'video' : 'image', asset.assetId);
  if (isVideo(asset))
    return (
      <>
        <video
          className="view"
          controls
          muted
          src={data?.playUrl ?? data?.url}
          poster={data?.thumbUrl}
          aria-label={nameOf(asset)}
        />
        {data?.playUrl && data.playUrl !== data.url && (
          <p className="quiet">
            This is a rendition, because browsers do not play the original. <a href={data.url}>Open the original</a>
          </p>
        )}
      </>
    );
  if (!isImage(asset)) return <a href={data?.url}>Open the file</a>;
  return (
    <div className="view">
      <Picture url={data?.previewUrl ?? data?.url} alt={nameOf(asset)} blurhash={asset.blurhash} isWhole />
    </div>
  );
}

/** The wordmark is for downloads only. The first one of an asset takes a moment. */
function Download({ asset }: { readonly asset: Asset }) {
  const user = useUser();
  const download = useMutation({
    mutationFn: async () => {
      const path = isVideo(asset) ? '/v1/watermark-video' : '/v1/watermark';
      const { url } = await user.json<{ readonly url: string }>('media', path, {
        method: 'POST',
        json: { ref: asset.assetId },
      });
      // Browsers ignore `download` for other origins, so the bytes are loaded first.
      const file = await fetch(url).then((response) => response.blob());
      const link = document.createElement('a');
      link.href = URL.createObjectURL(file);
      link.download = `atelier-${asset.assetId}.${isVideo(asset) ? 'mp4' : 'jpg'}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    },
  });
  return (
    <span>
      <button type="button" disabled={download.isPending} onClick={() => download.mutate()}>
        {download.isPending ? 'Preparing the download …' : 'Download with watermark'}
      </button>
      {download.error && (
        <span className="problem" role="alert">
          {' '}
          {download.error.message}
        </span>
      )}
    </span>
  );
}

function Copying({ asset, onCopied }: { readonly asset: Asset; readonly onCopied: () => Promise<unknown> }) {
  const user = useUser();
  const [kind, setKind] = useState('feed');
  const [id, setId] = useState('published');
  const copy = useMutation({
    mutationFn: async () => {
      const to = { toScopeKind: kind, toScopeId: id };
      const copyOf = (fromAssetId: string, more: object = {}) =>
        user.json<Asset>('media', '/v1/copy', { method: 'POST', json: { fromAssetId, ...to, ...more } });
      // A video has its own thumbnail.
      const thumb = asset.thumbAssetId === null ? undefined : await copyOf(asset.thumbAssetId);
      return copyOf(asset.assetId, thumb && { thumbAssetId: thumb.assetId });
    },
    onSuccess: onCopied,
  });
  return (
    <form
      className="copying"
      onSubmit={(event) => {
        event.preventDefault();
        copy.mutate();
      }}
    >
      <label className="field">
        Copy to scope
        <input
          value={kind}
          onChange={(event) => setKind(event.target.value)}
          pattern="[A-Za-z0-9_\-]+"
          maxLength={64}
          required
        />
      </label>
      <label className="field">
        with id
        <input
          value={id}
          onChange={(event) => setId(event.target.value)}
          pattern="[A-Za-z0-9_\-]+"
          maxLength={128}
          required
        />
      </label>
      <button type="submit" disabled={copy.isPending}>
        Copy
      </button>
      <p role="status" className={copy.error ? 'problem' : 'quiet'}>
        {copy.error?.message ?? (copy.data ? `Copied to ${copy.data.scopeKind}/${copy.data.scopeId}.` : '')}
      </p>
    </form>
  );
}
