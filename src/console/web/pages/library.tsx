import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Asset } from '../../../client/media/api.ts';
import { Details } from '../library/details.tsx';
import { Grid } from '../library/grid.tsx';
import { pictureTypes, uploadPicture } from '../library/uploads.ts';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { useUser } from '../user.tsx';

interface Page {
  readonly assets: readonly Asset[];
  readonly nextCursor: string | null;
}

export function Library() {
  const user = useUser();
  const queries = useQueryClient();
  const [kind, setKind] = useState('');
  const [opened, setOpened] = useState<Asset>();
  const listing = useInfiniteQuery({
    queryKey: ['assets', user.id, kind],
    queryFn: ({ pageParam }) => {
      const asked = { limit: '60', ...(kind && { kind }), ...(pageParam && { cursor: pageParam }) };
      return user.json<Page>('media', `/v1/assets?${new URLSearchParams(asked)}`);
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const reread = () => queries.invalidateQueries({ queryKey: ['assets'] });
  const all = listing.data?.pages.flatMap(({ assets }) => assets) ?? [];
  // A thumbnail is shown with its video.
  const thumbs = new Set(all.map(({ thumbAssetId }) => thumbAssetId));
  const assets = all.filter(({ assetId }) => !thumbs.has(assetId));
  return (
    <>
      <header className="page">
        <h1>Library</h1>
      </header>
      <div className="row toolbar">
        <label className="field inline">
          Show
          <select value={kind} onChange={(event) => setKind(event.target.value)}>
            <option value="">everything</option>
            <option value="image">pictures</option>
            <option value="video">videos</option>
          </select>
        </label>
        <Upload onUploaded={reread} />
      </div>
      {listing.data === undefined ? (
        listing.error ? (
          <Failure error={listing.error} retry={listing.refetch} />
        ) : (
          <Loading what="Reading the library" />
        )
      ) : assets.length === 0 ? (
        <Empty title="Nothing here yet.">
          <p>What the Studio makes for you lies here, and what you upload.</p>
        </Empty>
      ) : (
        <Grid assets={assets} onOpen={setOpened} />
      )}
      {listing.hasNextPage && (
        <button type="button" disabled={listing.isFetchingNextPage} onClick={() => listing.fetchNextPage()}>
          Show more
        </button>
      )}
      {opened && <Details asset={opened} onClose={() => setOpened(undefined)} onChange={reread} />}
    </>
  );
}

function Upload({ onUploaded }: { readonly onUploaded: () => Promise<unknown> }) {
  const user = useUser();
  const picker = useRef<HTMLInputElement>(null);
  const [share, setShare] = useState<number>();
  const [problem, setProblem] = useState('');
  async function upload(file: File) {
    setProblem('');
    setShare(0);
    try {
      await uploadPicture(user, file, { scopeKind: 'library', scopeId: 'uploads' }, setShare);
      await onUploaded();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setShare(undefined);
    }
  }
  return (
    <div className="upload">
      {problem && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
      {share !== undefined && (
        <progress max={1} value={share} aria-label={`Uploading, ${Math.round(share * 100)} percent`} />
      )}
      <input
        ref={picker}
        type="file"
        accept={pictureTypes}
        hidden
        aria-label="Picture"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = '';
          if (file !== undefined) void upload(file);
        }}
      />
      <button type="button" disabled={share !== undefined} onClick={() => picker.current?.click()}>
        Upload a picture
      </button>
    </div>
  );
}
