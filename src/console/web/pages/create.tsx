import { useHistoryState } from 'wouter/use-browser-location';
import { CreateForm } from '../create/createform.tsx';
import { useGenerations } from '../create/generations.ts';
import { GenerationView } from '../create/generationview.tsx';
import { emptyOrder, preparedOrder } from '../create/order.ts';
import { Empty, Pending } from '../parts/states.tsx';
import '../library/library.css';
import '../create/create.css';

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
