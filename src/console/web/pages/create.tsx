import { useQueries } from '@tanstack/react-query';
import { Columns2, RotateCw, Sparkles, X } from 'lucide-react';
import { Link } from 'wouter';
import { navigate, useHistoryState } from 'wouter/use-browser-location';
import type { GenerationPage } from '../../../client/agent/api.ts';
import type { Asset } from '../../../client/media/api.ts';
import { CreateForm } from '../create/createform.tsx';
import * as orders from '../create/order.ts';
import { fromAmong, fromPage } from '../library/actions.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { promptOf } from '../library/assets.ts';
import { openDialog } from '../library/dialogs.ts';
import { MediaActions } from '../library/mediaactions.tsx';
import { signedQuery, useSigned } from '../library/signing.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { momentOf, plural } from '../parts/figures.tsx';
import { Button, IconButton } from '../parts/iconbutton.tsx';
import { Paged } from '../parts/listing.tsx';
import { useDeed } from '../parts/server.ts';
import { Empty, PageHead } from '../parts/states.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { Gone } from '../studio/media.tsx';
import { useUser } from '../user.tsx';

/** Images and videos without a conversation. */
export function Create() {
  const user = useUser();
  const given = orders.preparedOrder(useHistoryState());
  const at = given?.at ?? 0;
  const pages = orders.useGenerations();
  const removed = orders.useRemoved();
  const shownOf = ({ generations }: GenerationPage) =>
    generations.filter(({ id, origin }) => origin !== 'run' && !removed.includes(id));
  const all = pages.data?.pages.flatMap(shownOf) ?? [];
  const running = all.filter(({ status }) => status === 'running');
  const ended = all.filter(({ status }) => status !== 'running');
  // In the order of the page.
  const made = [...running, ...ended].flatMap(({ kind, items }) =>
    items.flatMap(({ assetId }) => (assetId === null ? [] : [[kind, assetId] as const])),
  );
  const among = usePresent(made);
  return (
    <div className="createpage">
      <PageHead title="Create" />
      <CreateForm
        key={at}
        order={given?.order ?? orders.emptyOrder}
        draftKey={`atelier.order.${user.id}.${at}`}
        agreedCredits={given?.agreedCredits}
      />
      {running.length > 0 && (
        <section aria-label="Queue">
          <h2>In progress: {running.length}</h2>
          {running.map((generation) => (
            <GenerationView key={generation.id} generation={generation} among={among} />
          ))}
        </section>
      )}
      <section aria-label="Created">
        <Paged
          pages={pages}
          label="Your creations"
          itemsOf={shownOf}
          empty={
            <Empty title="Nothing created here yet">
              <p>Describe what you want to see, or begin with an example. Images appear here, and in your library.</p>
              <Button
                Icon={Sparkles}
                text={`Use “${example}”`}
                onClick={() => orders.startCreating({ prompt: example })}
              />
            </Empty>
          }
        >
          {() =>
            ended.map((generation) => <GenerationView key={generation.id} generation={generation} among={among} />)
          }
        </Paged>
      </section>
    </div>
  );
}

/** The ids of those that are neither deleted nor in the trash. */
function usePresent(
  assets: readonly (readonly [kind: orders.Generation['kind'], assetId: string])[],
): readonly string[] {
  const user = useUser();
  const signed = useQueries({ queries: assets.map(([kind, assetId]) => signedQuery(user, kind, assetId)) });
  return assets.flatMap(([, assetId], place) => {
    const { ready, trashed } = signed[place]?.data ?? { ready: true };
    return ready && !trashed ? assetId : [];
  });
}

const example = 'A lighthouse at dusk, warm light, film grain';

interface ViewProps {
  readonly generation: orders.Generation;
  /** What the lightbox steps through. */
  readonly among: readonly string[];
}

/** One order: its images in one row, each with a placeholder of its shape until it is there. Without images: two lines. */
function GenerationView({ generation, among }: ViewProps) {
  const { id, kind, model, status, items, createdAt, credits, references, duration } = generation;
  const prompt = promptOf(generation);
  const user = useUser();
  const canceling = useDeed(
    () => user.send('agent', `/generations/${id}`, { method: 'DELETE' }),
    ['credits'],
    ['generations'],
  );
  const name = orders.useModelName(kind, model);
  const made = items.flatMap(({ assetId }) => assetId ?? []);
  const isRunning = status === 'running';
  const shown = isRunning ? items : items.filter(({ assetId }) => assetId !== null);
  const isLine = shown.length === 0;
  const failure = status === 'canceled' ? null : items.find((item) => item.failure !== null)?.failure;
  const given = { kind, prompt, model, count: items.length, references, duration };
  const again = () => orders.createAgain(user, made[0] ?? null, given).catch(notifyFailure);
  const price = credits === 0 && !isRunning ? 'No credits were taken' : plural(credits, 'credit');
  const progress = orders.isSending(generation) ? 'Sending …' : isRunning && `${made.length} of ${items.length} ready`;
  const facts = [
    name,
    duration && `${duration} s`,
    momentOf(createdAt),
    price,
    progress,
    status === 'canceled' && 'Canceled',
  ];
  return (
    <article className={`generation ${isLine ? 'line' : ''}`} aria-label={prompt}>
      <header>
        <p className="prompt">{prompt}</p>
        <p className="quiet small facts">{facts.map((fact) => fact && <span key={fact}>{fact}</span>)}</p>
        {failure && (
          <p className="small problem">
            {isLine ? 'Not made' : `${items.length - made.length} of ${items.length} not made`}:{' '}
            {orders.plainFailure(failure.message)}
          </p>
        )}
        <div className="does">
          {references?.[0] && <Origin assetId={references[0]} />}
          {isRunning && (
            <Button
              Icon={X}
              text={canceling.isPending ? 'Canceling …' : 'Cancel'}
              disabled={canceling.isPending || orders.isSending(generation)}
              onClick={() => canceling.mutate(undefined, { onError: notifyFailure })}
            />
          )}
          {!isRunning && (
            <Button
              Icon={RotateCw}
              text={failure?.code === 'rejected' ? 'Edit the prompt' : 'Use again'}
              onClick={again}
            />
          )}
          {isLine && <IconButton Icon={X} label="Remove" onClick={() => orders.removeOrders([id])} />}
          {kind === 'image' && made.length > 1 && (
            <Button Icon={Columns2} text="Compare" onClick={() => openDialog({ kind: 'compare', assetIds: made })} />
          )}
        </div>
      </header>
      {!isLine && (
        <ul
          className={`results of${Math.min(shown.length, 4)} ${kind}`}
          ref={(list) => list?.style.setProperty('--ratio', String(orders.ratioOf(generation)))}
        >
          {shown.map((item) => (
            <li key={item.index}>
              <Result generation={generation} prompt={prompt} item={item} among={among} />
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** The image that an order began with, while it is there. It may be published by another user. */
function Origin({ assetId }: { readonly assetId: string }) {
  const user = useUser();
  const { data } = useSigned('image', assetId);
  if (!data?.ready || data.trashed) return null;
  const open = async () => {
    const { ownerId } = await user.json<Asset>('media', `/v1/assets/${assetId}`);
    navigate(`/${ownerId === user.id ? 'library' : 'explore'}/${assetId}`, { state: fromPage });
  };
  return (
    <button type="button" className="plain origin" onClick={() => open().catch(notifyFailure)}>
      <AssetImage url={data.thumbUrl ?? data.url} alt="" blurhash={data.blurhash} /> Made from this
    </button>
  );
}

interface ResultProps extends ViewProps {
  readonly prompt: string;
  readonly item: orders.GenerationItem;
}

function Result({ generation: { kind, createdAt }, prompt, item: { assetId, index }, among }: ResultProps) {
  const { data } = useSigned(kind, assetId);
  if (assetId === null)
    return (
      <div className="result running">
        <Elapsed sinceMs={Date.parse(createdAt)} what={kind} />
      </div>
    );
  if (data?.ready === false || data?.trashed) return <Gone what={kind} assetId={assetId} isInTrash={data.ready} />;
  return (
    <div className="result completed">
      <Link href={`/library/${assetId}`} state={fromAmong(among)} aria-label={`Open ${kind} ${index + 1}: ${prompt}`}>
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
