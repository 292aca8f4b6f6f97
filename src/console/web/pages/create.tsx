import '../library/library.css';
import '../create/create.css';
import { Columns2, RotateCw, X } from 'lucide-react';
import { Link } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { CreateForm } from '../create/createform.tsx';
import { type Generation, type GenerationItem, ratioOf, useCancel, useGenerations } from '../create/generations.ts';
import { emptyOrder, preparedOrder, startCreating } from '../create/order.ts';
import { fromPage } from '../library/actions.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { openDialog } from '../library/dialogs.ts';
import { MediaActions } from '../library/mediaactions.tsx';
import { useSigned } from '../library/signing.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { momentOf } from '../parts/figures.tsx';
import { Empty, Pending } from '../parts/states.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { InTrash } from '../studio/media.tsx';

/** Images and videos without a conversation. */
export function Create() {
  const prepared = preparedOrder(useHistoryState());
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useGenerations();
  const generations = data?.pages.flatMap((page) => page.generations);
  return (
    <div className="createpage">
      <header className="page">
        <h1>Create</h1>
      </header>
      <div className="columns">
        <CreateForm key={prepared?.at ?? 0} order={prepared?.order ?? emptyOrder} />
        <section className="made" aria-label="Created">
          {generations === undefined ? (
            <Pending error={error} retry={refetch} what="Reading what you created" />
          ) : generations.length === 0 ? (
            <Empty title="Nothing created yet.">
              <p>Describe what you want to see. Images appear here, and in your library.</p>
            </Empty>
          ) : (
            generations.map((generation) => <GenerationView key={generation.id} generation={generation} />)
          )}
          {hasNextPage && (
            <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
              Show more
            </button>
          )}
        </section>
      </div>
    </div>
  );
}

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;

const endings: Readonly<Record<string, string>> = { failed: 'Not made', canceled: 'Canceled' };

/** One order: its images in a grid, each with a placeholder of its shape until it is there. */
function GenerationView({ generation }: { readonly generation: Generation }) {
  const { id, kind, prompt, model, status, items, createdAt, credits } = generation;
  const cancel = useCancel();
  const made = items.flatMap(({ assetId }) => assetId ?? []);
  return (
    <article className="generation" aria-label={prompt}>
      <header>
        <p className="prompt">{prompt}</p>
        <p className="quiet small">
          {model} · {momentOf(createdAt)} · {credits === 1 ? '1 credit' : `${credits} credits`}
        </p>
        <div className="does">
          {status === 'running' && (
            <button type="button" onClick={() => cancel(id).catch(notifyFailure)}>
              <X {...icon} />
              Cancel
            </button>
          )}
          {status !== 'running' && (
            <button
              type="button"
              onClick={() => startCreating({ kind, prompt, model, count: kind === 'image' ? items.length : 1 })}
            >
              <RotateCw {...icon} />
              Use again
            </button>
          )}
          {kind === 'image' && made.length > 1 && (
            <button type="button" onClick={() => openDialog({ kind: 'compare', assetIds: made })}>
              <Columns2 {...icon} />
              Compare
            </button>
          )}
        </div>
      </header>
      <ul className={`results of${Math.min(items.length, 4)}`}>
        {items.map((item) => (
          <li key={item.index}>
            <Result generation={generation} item={item} />
          </li>
        ))}
      </ul>
    </article>
  );
}

function Result({ generation, item }: { readonly generation: Generation; readonly item: GenerationItem }) {
  const { kind, prompt, createdAt } = generation;
  const { assetId, status, failure, index } = item;
  const ratio = ratioOf(generation, item);
  const { data } = useSigned(kind, assetId);
  if (assetId === null)
    return (
      <div className={`result ${status}`} ref={(box) => box?.style.setProperty('aspect-ratio', ratio)}>
        {status === 'running' ? (
          <Elapsed sinceMs={Date.parse(createdAt)} what={kind} />
        ) : (
          <p className="small" role="status">
            <span className="strong">{endings[status] ?? 'Not made'}</span>
            {failure !== null && ` ${failure.message}`}
          </p>
        )}
      </div>
    );
  if (data?.ready === false) return <p className="quiet small">This {kind} has been deleted.</p>;
  if (data?.trashed) return <InTrash what={kind} />;
  return (
    <div className="result completed" ref={(box) => box?.style.setProperty('aspect-ratio', ratio)}>
      <Link href={`/library/${assetId}`} state={fromPage} aria-label={`Open ${kind} ${index + 1}: ${prompt}`}>
        {kind === 'image' ? (
          <AssetImage url={data?.previewUrl ?? data?.url} alt="" blurhash={data?.blurhash} />
        ) : (
          <video src={data?.playUrl ?? data?.url} poster={data?.thumbUrl} preload="metadata" muted loop playsInline />
        )}
      </Link>
      <MediaActions asset={{ assetId, mime: data?.mime ?? `${kind}/*` }} prompt={prompt} />
    </div>
  );
}
