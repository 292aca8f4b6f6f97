import { Columns2, RotateCw, X } from 'lucide-react';
import { Link } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { CreateForm } from '../create/createform.tsx';
import {
  createAgain,
  emptyOrder,
  type Generation,
  type GenerationItem,
  preparedOrder,
  ratioOf,
  splitPrompt,
  useCancel,
  useGenerations,
  useModelName,
} from '../create/order.ts';
import { fromPage } from '../library/actions.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { openDialog } from '../library/dialogs.ts';
import { MediaActions } from '../library/mediaactions.tsx';
import { useSigned } from '../library/signing.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { momentOf } from '../parts/figures.tsx';
import { Empty, PageHead, Pending } from '../parts/states.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { creditsOf } from '../studio/account.ts';
import { InTrash } from '../studio/media.tsx';
import { useUser } from '../user.tsx';

/** Images and videos without a conversation. */
export function Create() {
  const prepared = preparedOrder(useHistoryState());
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useGenerations();
  const generations = data?.pages.flatMap((page) => page.generations);
  const running = generations?.filter(({ status }) => status === 'running') ?? [];
  return (
    <div className="createpage">
      <PageHead title="Create" />
      <CreateForm key={prepared?.at ?? 0} order={prepared?.order ?? emptyOrder} />
      {running.length > 0 && (
        <section aria-label="Queue">
          <h2>In progress: {running.length}</h2>
          {running.map((generation) => (
            <GenerationView key={generation.id} generation={generation} />
          ))}
        </section>
      )}
      <section aria-label="Created">
        {generations === undefined ? (
          <Pending error={error} retry={refetch} what="Reading what you created" />
        ) : generations.length === 0 ? (
          <Empty title="Nothing created yet.">
            <p>Describe what you want to see. Images appear here, and in your library.</p>
          </Empty>
        ) : (
          generations
            .filter(({ status }) => status !== 'running')
            .map((generation) => <GenerationView key={generation.id} generation={generation} />)
        )}
        {hasNextPage && (
          <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show more
          </button>
        )}
      </section>
    </div>
  );
}

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;

const endings: Readonly<Record<string, string>> = { failed: 'Not made', canceled: 'Canceled' };

/** One order: its images in rows of equal height, each with a placeholder of its shape until it is there. */
function GenerationView({ generation }: { readonly generation: Generation }) {
  const { id, kind, model, status, items, createdAt, credits } = generation;
  const prompt = splitPrompt(generation.prompt, kind).prompt || generation.prompt;
  const user = useUser();
  const cancel = useCancel();
  const name = useModelName(kind, model);
  const made = items.flatMap(({ assetId }) => assetId ?? []);
  const ratio = ratioOf(generation);
  const again = () => createAgain(user, made[0] ?? null, { kind, prompt, model, count: items.length });
  return (
    <article className="generation" aria-label={prompt}>
      <header>
        <p className="prompt">{prompt}</p>
        <p className="quiet small">
          {name} · {momentOf(createdAt)} · {creditsOf(credits)}
          {status === 'running' && ` · ${made.length} of ${items.length} ready`}
        </p>
        <div className="does">
          {status === 'running' ? (
            <button type="button" onClick={() => cancel(id).catch(notifyFailure)}>
              <X {...icon} />
              Cancel
            </button>
          ) : (
            <button type="button" onClick={() => again().catch(notifyFailure)}>
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
      <ul
        className={`results of${Math.min(items.length, 4)} ${ratio > 1.2 ? 'flat' : ''}`}
        ref={(list) => list?.style.setProperty('--ratio', String(ratio))}
      >
        {items.map((item) => (
          <li key={item.index}>
            <Result generation={generation} prompt={prompt} item={item} />
          </li>
        ))}
      </ul>
    </article>
  );
}

interface ResultProps {
  readonly generation: Generation;
  readonly prompt: string;
  readonly item: GenerationItem;
}

function Result({
  generation: { kind, createdAt, items },
  prompt,
  item: { assetId, status, failure, index },
}: ResultProps) {
  const { data } = useSigned(kind, assetId);
  if (assetId === null)
    return (
      <div className={`result ${status}`}>
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
    <div className="result completed">
      <Link href={`/library/${assetId}`} state={fromPage} aria-label={`Open ${kind} ${index + 1}: ${prompt}`}>
        {kind === 'image' ? (
          <AssetImage url={data?.previewUrl ?? data?.url} alt="" blurhash={data?.blurhash} />
        ) : (
          <video src={data?.playUrl ?? data?.url} poster={data?.thumbUrl} preload="metadata" muted loop playsInline />
        )}
      </Link>
      <MediaActions
        asset={{ assetId, mime: data?.mime ?? `${kind}/*` }}
        prompt={prompt}
        amongOthers={items.length > 1}
      />
    </div>
  );
}
