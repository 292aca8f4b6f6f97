import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { callJson, send } from '../calls.ts';
import { Confirm } from '../parts/confirm.tsx';
import { When } from '../parts/figures.tsx';
import { Empty, Failure, Loading, Problem } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';

interface Suppression {
  readonly address: string;
  readonly reason: string;
  readonly since: string;
}
interface Page {
  readonly suppressions: readonly Suppression[];
  readonly next_cursor: string | null;
}

export function Suppressions() {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['suppressions'],
    queryFn: ({ pageParam }) =>
      callJson<Page>(`/api/notify/suppressions${pageParam === '' ? '' : `?cursor=${encodeURIComponent(pageParam)}`}`),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  if (data === undefined)
    return error ? <Failure error={error} retry={refetch} /> : <Loading what="Reading the addresses" />;
  const suppressions = data.pages.flatMap((page) => page.suppressions);
  if (suppressions.length === 0)
    return (
      <Empty title="No address is suppressed.">
        <p>An address is suppressed when its mailbox is missing, or when its owner reports a mail as spam.</p>
      </Empty>
    );
  return (
    <>
      <p className="quiet">No mail goes to these addresses.</p>
      <ul className="lines" aria-label="Suppressed addresses">
        {suppressions.map((suppression) => (
          <Row key={suppression.address} suppression={suppression} />
        ))}
      </ul>
      {hasNextPage && (
        <p>
          <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show more addresses
          </button>
        </p>
      )}
    </>
  );
}

function Row({ suppression: { address, reason, since } }: { readonly suppression: Suppression }) {
  const queries = useQueryClient();
  const lifting = useMutation({
    mutationFn: async () => {
      await send(`/api/notify/suppressions/${encodeURIComponent(address)}`, { method: 'DELETE' });
      notify(`Mails go to ${address} again.`);
      await queries.invalidateQueries({ queryKey: ['suppressions'] });
    },
  });
  return (
    <li>
      <div className="row">
        <div>
          <p className="strong">{address}</p>
          <p className="quiet">
            {reason} · since <When at={since} />
          </p>
        </div>
        <Confirm
          label="Lift"
          question={`Send mails to ${address} again?`}
          onConfirm={() => lifting.mutateAsync().catch(() => undefined)}
        />
      </div>
      <Problem of={lifting.error} />
    </li>
  );
}
